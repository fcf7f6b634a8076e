// The kernels of kernels.h: each checks its arguments, then runs on the CPU (cpu_kernels.h) or is enqueued on
// the current stream of the views' device. Under the simulator, reductions and copies are also reported to
// it.
#include "dist/core/kernels.h"

#include <algorithm>

#include "dist/core/copy_bytes.h"
#include "dist/core/cpu_kernels.h"
#include "dist/core/device.h"
#include "dist/core/fail.h"
#include "dist/core/reduction_watch.h"
#include "dist/core/tasking.h"
#include "dist/core/values.h"

namespace dist {

namespace {

bool on_cpu(const TensorView& view) { return view.device.type == DeviceType::cpu; }

void check_counts(std::string_view kernel, const TensorView& a, const TensorView& b) {
  if (a.count != b.count)
    fail(Errc::internal, "{}: {} {} met {} {}; views of one call have equal counts", kernel, a.count,
         name(a.dtype), b.count, name(b.dtype));
}

// Element-wise work on memory that is shared but shifted would depend on the order in which elements are
// done.
void check_overlap(std::string_view kernel, const TensorView& out, const TensorView& in) {
  const bool same = out.data == in.data && out.bytes() == in.bytes();
  if (same || out.data >= in.data + in.bytes() || in.data >= out.data + out.bytes()) return;
  fail(Errc::invalid_argument, "{}: what is written overlaps an input in part; clone() the input first",
       kernel);
}

void check_same(std::string_view kernel, const TensorView& a, const TensorView& b) {
  check_counts(kernel, a, b);
  if (a.dtype != b.dtype || a.device != b.device)
    fail(Errc::internal, "{}: {} on {} met {} on {}; views of one call have one dtype and one device", kernel,
         name(a.dtype), a.device.str(), name(b.dtype), b.device.str());
  check_overlap(kernel, a, b);
}

void check_dtype(std::string_view kernel, DType dtype, bool exists) {
  if (!exists)
    fail(Errc::internal, "{} is not defined on {}; its caller must refuse it", kernel, name(dtype));
}

void check_copy(const TensorView& to, const TensorView& from) {
  check_counts("copy", to, from);
  check_dtype("copy between dtypes", from.dtype, to.dtype == from.dtype);
  check_overlap("copy", to, from);
}

// Runs `host()` or, for a view on a device, `device(api, stream)`. Views without elements or values need
// neither.
template <class Host, class OnDevice>
void dispatch(const TensorView& view, const Host& host, const OnDevice& device) {
  if (view.count == 0 || !has_values(view.dtype)) return;
  if (on_cpu(view)) return host();
  device(device_api(view.device.type), current_stream(view.device));
}

}  // namespace

void reduce(TensorView acc, TensorView in, ReduceOp op) {
  check_same("reduce", acc, in);
  if (op.kind() == ReduceOp::Kind::avg || op.kind() == ReduceOp::Kind::premul_sum)
    fail(Errc::internal, "reduce: {} is not a base operation; it is a sum and a scale() or divide()",
         name(op.kind()));
  check_dtype(name(op.kind()), acc.dtype, is_defined(op.kind(), acc.dtype));
  if (Tasking* const simulated = Tasking::current()) {
    simulated->reduced(acc.data, in.data, acc.bytes());
    if (acc.data == nullptr) return;  // a size alone has no elements
  }
  const auto on_host = [&] {
    ReductionWatch* const watch = ReductionWatch::current();
    if (!watch) return cpu_kernels::reduce(acc, in, op);
    const auto begin = ReductionWatch::Clock::now();
    cpu_kernels::reduce(acc, in, op);
    watch->reduced(acc, begin);
  };
  dispatch(acc, on_host,
           [&](DeviceApi& api, StreamHandle stream) { api.reduce(acc.device, stream, acc, in, op); });
}

// This is called for a few elements at a time, so it checks no more than it must.
void reduce_many(std::span<const TensorView> outs, std::span<const TensorView> ins, ReduceOp op) {
  const TensorView& first = ins[0];
  const auto are_alike = [&](std::span<const TensorView> views) {
    bool alike = true;
    for (const TensorView& v : views)
      alike = alike && v.count == first.count && v.dtype == first.dtype && v.device == first.device;
    return alike;
  };
  if (!are_alike(ins) || !are_alike(outs))
    fail(Errc::internal, "reduce_many: views of one call have one count, one dtype and one device");
  if (!is_defined(op.kind(), first.dtype) || op.kind() == ReduceOp::Kind::premul_sum)
    fail(Errc::internal, "reduce_many: {} on {}; its caller must refuse it", name(op.kind()),
         name(first.dtype));
  dispatch(
      first, [&] { cpu_kernels::reduce_many(outs, ins, op); },
      [&](DeviceApi& api, StreamHandle stream) { api.reduce_many(first.device, stream, outs, ins, op); });
}

void copy(const TensorView& to, const TensorView& from) {
  check_copy(to, from);
  if (to.count == 0 || to.data == from.data) return;
  if (Tasking* const simulated = Tasking::current()) simulated->copied(to.data, from.data, to.bytes());
  if (!has_values(to.dtype)) return;
  if (on_cpu(to) && on_cpu(from)) {
    copy_bytes(to.data, from.data, to.bytes());
  } else {
    const Device device = on_cpu(to) ? from.device : to.device;
    device_api(device.type).copy(device, current_stream(device), to.data, from.data, to.bytes());
  }
}

// Copies in blocks, each of which stays in the first-level cache while it is written to one output after
// another.
void copy_to_all(std::span<const TensorView> outs, const TensorView& in) {
  constexpr std::size_t block = std::size_t{16} << 10;
  const bool on_host = on_cpu(in) && std::ranges::all_of(outs, on_cpu) && !Tasking::current();
  if (on_host ? in.bytes() <= block : on_cpu(in) || Tasking::current()) {
    for (const TensorView& out : outs) copy(out, in);
    return;
  }
  for (const TensorView& out : outs) check_copy(out, in);
  if (!on_host) {
    const PartViews all{.outs = outs, .ins = {&in, 1}};
    return device_api(in.device.type).copy_parts(in.device, current_stream(in.device), {&all, 1});
  }
  for (std::size_t first = 0; first < in.bytes(); first += block)
    for (const TensorView& out : outs)
      if (out.data != in.data)
        copy_bytes(out.data + first, in.data + first, std::min(block, in.bytes() - first), in.bytes());
}

void fill(TensorView view, double value) {
  dispatch(
      view, [&] { cpu_kernels::fill(view, value); },
      [&](DeviceApi& api, StreamHandle stream) { api.fill(view.device, stream, view, value); });
}

void scale(TensorView view, double factor) {
  check_dtype("scale", view.dtype, is_floating_point(view.dtype));
  dispatch(
      view, [&] { cpu_kernels::scale(view, factor); },
      [&](DeviceApi& api, StreamHandle stream) { api.scale(view.device, stream, view, factor); });
}

void divide(TensorView view, std::int64_t divisor) {
  check_dtype("divide", view.dtype, view.dtype != DType::boolean);
  if (divisor < 1) fail(Errc::internal, "divide: the divisor {} is not positive", divisor);
  dispatch(
      view, [&] { cpu_kernels::divide(view, divisor); },
      [&](DeviceApi& api, StreamHandle stream) { api.divide(view.device, stream, view, divisor); });
}

void convert(TensorView to, TensorView from) {
  check_counts("convert", to, from);
  if (to.device != from.device)
    fail(Errc::internal, "convert: from {} to {}; copy between devices first", from.device.str(),
         to.device.str());
  if (to.dtype == from.dtype) return copy(to, from);
  check_overlap("convert", to, from);
  if (!has_values(from.dtype)) return;
  dispatch(
      to, [&] { cpu_kernels::convert(to, from); },
      [&](DeviceApi& api, StreamHandle stream) { api.convert(to.device, stream, to, from); });
}

void unary(TensorView out, TensorView in, UnaryOp op) {
  check_same("unary", out, in);
  check_dtype("exp or sqrt", out.dtype, is_floating_point(out.dtype));
  dispatch(
      out, [&] { cpu_kernels::unary(out, in, op); },
      [&](DeviceApi& api, StreamHandle stream) { api.unary(out.device, stream, out, in, op); });
}

void binary(TensorView out, TensorView a, TensorView b, BinaryOp op) {
  check_same("binary", out, a);
  check_same("binary", out, b);
  check_dtype("arithmetic", out.dtype, out.dtype != DType::boolean);
  check_dtype("division", out.dtype, op != BinaryOp::divide || is_floating_point(out.dtype));
  dispatch(
      out, [&] { cpu_kernels::binary(out, a, b, op); },
      [&](DeviceApi& api, StreamHandle stream) { api.binary(out.device, stream, out, a, b, op); });
}

void add_scaled(TensorView acc, TensorView in, double alpha) {
  check_same("add_scaled", acc, in);
  check_dtype("arithmetic", acc.dtype, acc.dtype != DType::boolean);
  dispatch(
      acc, [&] { cpu_kernels::add_scaled(acc, in, alpha); },
      [&](DeviceApi& api, StreamHandle stream) { api.add_scaled(acc.device, stream, acc, in, alpha); });
}

}  // namespace dist
