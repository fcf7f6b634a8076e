// What core/device/cuda/check.cpp declares for launches, which cannot fail here.
#include "dist/core/device/cuda/launch.h"

#include "dist/core/fail.h"

namespace dist::cuda_kernels {

void check_launch(cudaError_t error, const char* kernel, const TensorView& view) {
  if (error != cudaSuccess)
    fail(Errc::internal, "launching {} of {} {}", kernel, view.count, name(view.dtype));
}

void no_such_kernel(const char* kernel, DType dtype) {
  if (only_loads()) return;
  fail(Errc::internal, "kernel {} on {} elements does not exist; its caller must refuse it", kernel,
       name(dtype));
}

}  // namespace dist::cuda_kernels
