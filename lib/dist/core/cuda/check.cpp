#include "dist/core/cuda/check.h"

#include <cudaTypedefs.h>

#include "dist/core/cuda/launch.h"
#include "dist/core/rank_label.h"

namespace dist::cuda_detail {

void fail_call(cudaError_t error, Device device, const std::string& call) {
  forget(error);  // a later call would report it again
  const int rank = current_rank_label();
  const std::string who = rank >= 0 ? fmt::format("rank {}: ", rank) : std::string();
  const bool no_memory = error == cudaErrorMemoryAllocation;
  fail(no_memory ? Errc::resource : Errc::internal, "{}{} on {}: {}; {}", who, call, device.str(),
       cudaGetErrorString(error),
       no_memory ? "use smaller tensors, or free some"
                 : "if an earlier kernel caused it, CUDA_LAUNCH_BLOCKING=1 shows which");
}

bool has_context(int device) {
  static const auto state = driver<PFN_cuDevicePrimaryCtxGetState_v7000>("cuDevicePrimaryCtxGetState");
  unsigned flags = 0;
  int active = 1;
  return !state || state(device, &flags, &active) != CUDA_SUCCESS || active != 0;
}

}  // namespace dist::cuda_detail

namespace dist::cuda_kernels {

void check_launch(cudaError_t error, const char* kernel, const TensorView& view) {
  cuda_detail::ensure(error, view.device, "launching {} of {} {}", kernel, view.count, name(view.dtype));
}

void no_such_kernel(const char* kernel, DType dtype) {
  fail(Errc::internal, "kernel {} on {} elements does not exist; its caller must refuse it", kernel,
       name(dtype));
}

}  // namespace dist::cuda_kernels
