// The kernels of collectives: reduce() and copy(). Each checks its arguments, then runs on the CPU
// (cpu_kernels.h) or is enqueued on the current stream of the views' device. Under the simulator they are
// also reported to it. The kernels of many views are in kernels_of_many.cpp, those of tensors in
// tensor_kernels.cpp.
#include "dist/core/kernels.h"

#include "dist/core/copy_bytes.h"
#include "dist/core/cpu_kernels.h"
#include "dist/core/kernel_checks.h"
#include "dist/core/reduction_watch.h"
#include "dist/core/tasking.h"

namespace dist {

void reduce(TensorView acc, TensorView in, ReduceOp op) {
  kernels::check_same("reduce", acc, in);
  if (op.kind() == ReduceOp::Kind::avg || op.kind() == ReduceOp::Kind::premul_sum)
    fail(Errc::internal, "reduce: {} is not a base operation; it is a sum and a scale() or divide()",
         name(op.kind()));
  kernels::check_dtype(name(op.kind()), acc.dtype, is_defined(op.kind(), acc.dtype));
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
  kernels::dispatch(acc, on_host, [&](DeviceApi& api, StreamHandle stream) {
    api.reduce(acc.device, stream, acc, in, op);
  });
}

void copy(const TensorView& to, const TensorView& from) {
  kernels::check_copy(to, from);
  if (to.count == 0 || to.data == from.data) return;
  if (Tasking* const simulated = Tasking::current()) simulated->copied(to.data, from.data, to.bytes());
  if (!has_values(to.dtype)) return;
  if (kernels::on_cpu(to) && kernels::on_cpu(from)) {
    copy_bytes(to.data, from.data, to.bytes());
  } else {
    const Device device = kernels::on_cpu(to) ? from.device : to.device;
    device_api(device.type).copy(device, current_stream(device), to.data, from.data, to.bytes());
  }
}

}  // namespace dist
