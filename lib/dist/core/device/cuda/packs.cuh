// What the kernels are made of: packs of 16 bytes, which are one memory access, and grids that stay on the
// GPU and stride over the elements.
#pragma once

#include <algorithm>
#include <cstdint>

#include <cuda_runtime.h>

#include "dist/core/device/cuda/launch.h"
#include "dist/core/functors.h"
#include "dist/core/view.h"

namespace dist::cuda_kernels {

// Elements that are loaded and stored by one instruction.
template <class T>
struct alignas(16) Pack {
  static constexpr int size = 16 / sizeof(T);
  T at[size];
};

template <class T>
__host__ __device__ T* elements(const TensorView& view) {
  return reinterpret_cast<T*>(view.data);
}

// How many packs a kernel may access: all that fit if all these addresses begin a pack; otherwise none, and
// the kernel goes element by element.
template <class... Views>
std::int64_t packs_of(const TensorView& first, const Views&... others) {
  const auto begins_a_pack = [](const TensorView& v) {
    return reinterpret_cast<std::uintptr_t>(v.data) % 16 == 0;
  };
  const bool all = begins_a_pack(first) && (begins_a_pack(others) && ...);
  return all ? static_cast<std::int64_t>(first.bytes() / 16) : 0;
}

// A thread of the grid begins at first_index() and advances by grid_stride().
__device__ inline std::int64_t first_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t grid_stride() { return static_cast<std::int64_t>(gridDim.x) * blockDim.x; }

// The number of multiprocessors of the current device; each thread asks CUDA once.
inline int processors() {
  thread_local int known_device = -1, known = 1;
  int device = 0;
  cudaGetDevice(&device);
  if (device != known_device &&
      cudaDeviceGetAttribute(&known, cudaDevAttrMultiProcessorCount, device) == cudaSuccess)
    known_device = device;
  return known;
}

// As many blocks as the work needs, but no more than can run at once.
inline int blocks_for(std::int64_t threads) {
  const std::int64_t wanted = (threads + threads_per_block - 1) / threads_per_block;
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, std::int64_t{8} * processors()));
}

}  // namespace dist::cuda_kernels
