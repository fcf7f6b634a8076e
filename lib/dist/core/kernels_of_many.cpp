// Kernels that read or write several views at once.
#include <algorithm>

#include "dist/core/copy_bytes.h"
#include "dist/core/cpu_kernels.h"
#include "dist/core/kernel_checks.h"
#include "dist/core/tasking.h"

namespace dist {

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
  kernels::dispatch(
      first, [&] { cpu_kernels::reduce_many(outs, ins, op); },
      [&](DeviceApi& api, StreamHandle stream) { api.reduce_many(first.device, stream, outs, ins, op); });
}

// Copies in blocks, each of which stays in the first-level cache while it is written to one output after
// another.
void copy_to_all(std::span<const TensorView> outs, const TensorView& in) {
  constexpr std::size_t block = std::size_t{16} << 10;
  const bool on_host =
      kernels::on_cpu(in) && std::ranges::all_of(outs, kernels::on_cpu) && !Tasking::current();
  if (on_host ? in.bytes() <= block : kernels::on_cpu(in) || Tasking::current()) {
    for (const TensorView& out : outs) copy(out, in);
    return;
  }
  for (const TensorView& out : outs) kernels::check_copy(out, in);
  if (!on_host) {
    const PartViews all{.outs = outs, .ins = {&in, 1}};
    return device_api(in.device.type).copy_parts(in.device, current_stream(in.device), {&all, 1});
  }
  for (std::size_t first = 0; first < in.bytes(); first += block)
    for (const TensorView& out : outs)
      if (out.data != in.data)
        copy_bytes(out.data + first, in.data + first, std::min(block, in.bytes() - first), in.bytes());
}

}  // namespace dist
