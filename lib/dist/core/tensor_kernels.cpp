// The kernels of tensors: filled, scaled, converted, and their arithmetic.
#include "dist/core/cpu_kernels.h"
#include "dist/core/kernel_checks.h"

namespace dist {

void fill(TensorView view, double value) {
  kernels::dispatch(
      view, [&] { cpu_kernels::fill(view, value); },
      [&](DeviceApi& api, StreamHandle stream) { api.fill(view.device, stream, view, value); });
}

void scale(TensorView view, double factor) {
  kernels::check_dtype("scale", view.dtype, is_floating_point(view.dtype));
  kernels::dispatch(
      view, [&] { cpu_kernels::scale(view, factor); },
      [&](DeviceApi& api, StreamHandle stream) { api.scale(view.device, stream, view, factor); });
}

void divide(TensorView view, std::int64_t divisor) {
  kernels::check_dtype("divide", view.dtype, view.dtype != DType::boolean);
  if (divisor < 1) fail(Errc::internal, "divide: the divisor {} is not positive", divisor);
  kernels::dispatch(
      view, [&] { cpu_kernels::divide(view, divisor); },
      [&](DeviceApi& api, StreamHandle stream) { api.divide(view.device, stream, view, divisor); });
}

void convert(TensorView to, TensorView from) {
  kernels::check_counts("convert", to, from);
  if (to.device != from.device)
    fail(Errc::internal, "convert: from {} to {}; copy between devices first", from.device.str(),
         to.device.str());
  if (to.dtype == from.dtype) return copy(to, from);
  kernels::check_overlap("convert", to, from);
  if (!has_values(from.dtype)) return;
  kernels::dispatch(
      to, [&] { cpu_kernels::convert(to, from); },
      [&](DeviceApi& api, StreamHandle stream) { api.convert(to.device, stream, to, from); });
}

void unary(TensorView out, TensorView in, UnaryOp op) {
  kernels::check_same("unary", out, in);
  kernels::check_dtype("exp or sqrt", out.dtype, is_floating_point(out.dtype));
  kernels::dispatch(
      out, [&] { cpu_kernels::unary(out, in, op); },
      [&](DeviceApi& api, StreamHandle stream) { api.unary(out.device, stream, out, in, op); });
}

void binary(TensorView out, TensorView a, TensorView b, BinaryOp op) {
  kernels::check_same("binary", out, a);
  kernels::check_same("binary", out, b);
  kernels::check_dtype("arithmetic", out.dtype, out.dtype != DType::boolean);
  kernels::check_dtype("division", out.dtype, op != BinaryOp::divide || is_floating_point(out.dtype));
  kernels::dispatch(
      out, [&] { cpu_kernels::binary(out, a, b, op); },
      [&](DeviceApi& api, StreamHandle stream) { api.binary(out.device, stream, out, a, b, op); });
}

void add_scaled(TensorView acc, TensorView in, double alpha) {
  kernels::check_same("add_scaled", acc, in);
  kernels::check_dtype("arithmetic", acc.dtype, acc.dtype != DType::boolean);
  kernels::dispatch(
      acc, [&] { cpu_kernels::add_scaled(acc, in, alpha); },
      [&](DeviceApi& api, StreamHandle stream) { api.add_scaled(acc.device, stream, acc, in, alpha); });
}

}  // namespace dist
