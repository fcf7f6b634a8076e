// What this folder's kernels are made of: a function per element, a function per block of threads, and sums
// over a block.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dist/core/device/cuda/packs.cuh"

namespace dist::nn::cuda_kernels {

using dist::cuda_kernels::blocks_for;
using dist::cuda_kernels::first_index;
using dist::cuda_kernels::grid_stride;
using dist::cuda_kernels::processors;
using dist::cuda_kernels::threads_per_block;
using dist::cuda_kernels::try_launch;

// Calls the operator() of f with the type of the elements, BFloat16 or float, as its template argument. Both
// are computed in f32, and each result is rounded once.
template <class F>
cudaError_t visit_elements(DType dtype, const F& f) {
  return dtype == DType::bf16 ? f.template operator()<BFloat16>() : f.template operator()<float>();
}

template <class F>
__global__ void each_kernel(std::int64_t count, F f) {
  for (std::int64_t i = first_index(); i < count; i += grid_stride()) f(i);
}

// f(i) for every i below count.
template <class F>
cudaError_t each(cudaStream_t stream, std::int64_t count, F f) {
  if (count == 0) return cudaSuccess;
  return try_launch(blocks_for(count), stream, each_kernel<F>, count, f);
}

template <class F>
__global__ void each_block_kernel(std::int64_t count, F f) {
  for (std::int64_t i = blockIdx.x; i < count; i += gridDim.x) f(i);
}

// f(i) for every i below count, each by all threads of a block: f may use block_sum() and its like.
template <class F>
cudaError_t each_block(cudaStream_t stream, std::int64_t count, F f) {
  if (count == 0) return cudaSuccess;
  const auto blocks = std::min<std::int64_t>(count, std::int64_t{64} * processors());
  return try_launch(static_cast<int>(blocks), stream, each_block_kernel<F>, count, f);
}

// Calls f(i) for every i below count, from within a block: one thread for each i.
template <class F>
__device__ void each_of_block(std::int64_t count, const F& f) {
  for (std::int64_t i = threadIdx.x; i < count; i += threads_per_block) f(i);
}

// `mine` of all threads of the block combined pairwise, in all of them.
template <class T, class F>
__device__ T over_block(T mine, const F& combine) {
  __shared__ T of[threads_per_block];
  __syncthreads();  // all threads have read the previous result
  of[threadIdx.x] = mine;
  for (int half = threads_per_block / 2; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < half)
      of[threadIdx.x] = combine(of[threadIdx.x], of[threadIdx.x + half]);
  }
  __syncthreads();
  return of[0];
}

// The sum of double f(i) over all i below count, by one block.
template <class F>
__device__ double block_sum(std::int64_t count, const F& f) {
  double mine = 0;
  each_of_block(count, [&](std::int64_t i) { mine += f(i); });
  return over_block(mine, [](double a, double b) { return a + b; });
}

// The largest float f(i), without NaNs; `lowest` if there is none.
template <class F>
__device__ float block_max(std::int64_t count, float lowest, const F& f) {
  float mine = lowest;
  each_of_block(count, [&](std::int64_t i) {
    const float x = f(i);
    if (x > mine) mine = x;
  });
  return over_block(mine, [](float a, float b) { return a > b ? a : b; });
}

}  // namespace dist::nn::cuda_kernels
