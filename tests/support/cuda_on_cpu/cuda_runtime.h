// What the library's kernels use of CUDA, for a C++ compiler that has no CUDA: the compiler finds it instead
// of CUDA's own header, and a launch runs its grid on the calling thread before it returns (grid.h).
#pragma once

#include <atomic>
#include <utility>

#include <math.h>  // ::exp(float) and its like, as in CUDA

#include "support/cuda_on_cpu/grid.h"
#include "support/cuda_on_cpu/kernels_seen.h"

#define __global__
#define __device__
#define __host__
#define __grid_constant__
#define __shared__ static thread_local  // a thread of the host runs one block at a time

enum cudaError_t { cudaSuccess, cudaErrorInvalidValue };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount };
using cudaStream_t = void*;

struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  cudaStream_t stream = nullptr;
};

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  dist::test::kernels_seen().launched(reinterpret_cast<const void*>(kernel));
  dist::test::run_grid(config->gridDim, config->blockDim,
                       [&] { kernel(static_cast<Parameters>(arguments)...); });
  return cudaSuccess;
}

struct cudaFuncAttributes {};

template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, Kernel* kernel) {
  dist::test::kernels_seen().loaded(reinterpret_cast<const void*>(kernel));
  return cudaSuccess;
}

inline cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }

// Few enough that the kernels' grids are smaller than the tests' data.
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) { return *value = 1, cudaSuccess; }

inline void __syncthreads() { dist::test::sync_threads(); }

inline int __syncthreads_or(int predicate) {
  static thread_local bool any;
  any = false;
  __syncthreads();
  if (predicate != 0) any = true;
  __syncthreads();
  const bool result = any;
  __syncthreads();  // before the next call clears it
  return result;
}

// Here all threads of a block must take part, not only those of a warp. A test here would therefore not
// notice a missing barrier that a GPU needs besides this one; gpu.nn_racecheck would report it.
inline float __shfl_xor_sync(unsigned, float value, int lanes) {
  static thread_local float values[1024];
  values[threadIdx.x] = value;
  __syncthreads();
  const float other = values[threadIdx.x ^ static_cast<unsigned>(lanes)];
  __syncthreads();
  return other;
}

inline float atomicAdd(float* to, float value) { return std::atomic_ref(*to).fetch_add(value); }
