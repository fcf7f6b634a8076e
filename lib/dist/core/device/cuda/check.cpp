#include "dist/core/device/cuda/check.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <cudaTypedefs.h>

#include "dist/core/device/cuda/launch.h"
#include "dist/core/rank_label.h"

namespace dist::cuda_detail {

namespace {

struct Advice {
  cudaError_t error;
  std::string_view text;
};
constexpr std::string_view build_for_it =
    "this build has no code for this GPU, or newer code than its driver knows; configure with "
    "CUDAARCHS=native, or install a newer driver";
constexpr std::array advices{
    Advice{cudaErrorMemoryAllocation, "use smaller tensors, free some, or let fewer processes share the GPU"},
    Advice{
        cudaErrorInitializationError,
        "was this process forked from one that had used a GPU? start the ranks before that, or with distrun"},
    Advice{cudaErrorDevicesUnavailable,
           "another process may use it exclusively: check the compute mode in nvidia-smi -q"},
    Advice{cudaErrorInsufficientDriver,
           "install a newer driver (nvidia-smi shows the CUDA version it supports)"},
    Advice{cudaErrorNoKernelImageForDevice, build_for_it},
    Advice{cudaErrorUnsupportedPtxVersion, build_for_it},
};
constexpr std::string_view by_a_kernel = "if an earlier kernel caused it, CUDA_LAUNCH_BLOCKING=1 shows which";

std::string_view advice_for(cudaError_t error) {
  const auto found = std::ranges::find(advices, error, &Advice::error);
  return found == advices.end() ? by_a_kernel : found->text;
}

}  // namespace

void fail_call(cudaError_t error, Device device, const std::string& call) {
  forget(error);  // a later call would report it again
  const int rank = current_rank_label();
  const std::string who = rank >= 0 ? fmt::format("rank {}: ", rank) : std::string();
  fail(error == cudaErrorMemoryAllocation ? Errc::resource : Errc::internal, "{}{} on {}: {}; {}", who, call,
       device.str(), cudaGetErrorString(error), advice_for(error));
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
  if (only_loads()) return;
  fail(Errc::internal, "kernel {} on {} elements does not exist; its caller must refuse it", kernel,
       name(dtype));
}

}  // namespace dist::cuda_kernels
