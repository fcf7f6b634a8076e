// How a kernel is launched. The checks are defined in check.cpp, as nvcc does not take fmt's format strings.
#pragma once

#include <utility>

#include <cuda_runtime.h>

#include "dist/core/view.h"

namespace dist::cuda_kernels {

inline constexpr int threads_per_block = 256;

// Reports what a launch itself can do wrong: too large an argument, or no code for this GPU.
void check_launch(cudaError_t error, const char* kernel, const TensorView& view);
// Does nothing while kernels are only loaded.
void no_such_kernel(const char* kernel, DType dtype);
// Whether this thread's launches only load the kernel.
bool& only_loads() noexcept;

// Returns the launch's own error. An earlier error, in any code, stays for the code that it concerns.
template <class... Parameters, class... Arguments>
cudaError_t try_launch(int blocks, cudaStream_t stream, void (*kernel)(Parameters...),
                       Arguments&&... arguments) {
  if (only_loads()) {
    cudaFuncAttributes unused{};
    return cudaFuncGetAttributes(&unused, kernel);  // which loads it
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(threads_per_block);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...);
}

// `name` and `first`, one of the views it works on, are for errors.
template <class... Parameters, class... Arguments>
void launch(const char* name, const TensorView& first, int blocks, cudaStream_t stream,
            void (*kernel)(Parameters...), Arguments&&... arguments) {
  check_launch(try_launch(blocks, stream, kernel, std::forward<Arguments>(arguments)...), name, first);
}

}  // namespace dist::cuda_kernels
