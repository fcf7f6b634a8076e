// The few kernels of the probes.
#pragma once

#include <cstdint>

#include "gpu.h"

namespace probe {

static __global__ void fill_pattern(std::uint32_t* words, std::size_t count, std::uint32_t seed) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    words[i] = static_cast<std::uint32_t>(i) * 2654435761u + seed;
  }
}

static __global__ void count_wrong(const std::uint32_t* words, std::size_t count, std::uint32_t seed,
                                   unsigned* wrong) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    if (words[i] != static_cast<std::uint32_t>(i) * 2654435761u + seed) atomicAdd(wrong, 1u);
  }
}

// Fills `words` with the pattern of `seed`, and waits.
inline void write_pattern(void* words, std::size_t bytes, std::uint32_t seed) {
  fill_pattern<<<256, 256>>>(static_cast<std::uint32_t*>(words), bytes / 4, seed);
  TRY(cudaGetLastError());
  TRY(cudaDeviceSynchronize());
}

// Throws unless the device sees exactly that pattern.
inline void expect_pattern(const void* words, std::size_t bytes, std::uint32_t seed) {
  Buffer wrong(4);
  TRY(cudaMemset(wrong.data(), 0, 4));
  count_wrong<<<256, 256>>>(static_cast<const std::uint32_t*>(words), bytes / 4, seed, wrong.words());
  TRY(cudaGetLastError());
  unsigned count = 0;
  TRY(cudaMemcpy(&count, wrong.data(), 4, cudaMemcpyDeviceToHost));
  if (count != 0) throw Refused(text("mapped, but %u of %zu words are wrong", count, bytes / 4));
}

// Arithmetic for a fixed number of dependent steps: work that takes longer when its time slice is taken away
// (a clock would run on meanwhile).
static __global__ void work(long steps, float* out) {
  float x = static_cast<float>(threadIdx.x);
  for (long i = 0; i < steps; ++i) x = x * 1.0000001f + 0.5f;
  if (x == -1.0f) *out = x;
}

// Takes turns: counts an error unless *turn is `expected`, then passes the turn on.
static __global__ void take_turn(volatile int* turn, int expected, int* errors) {
  if (*turn != expected) atomicAdd(errors, 1);
  *turn = expected + 1;
  __threadfence_system();
}

// Steps of work() that take about `us` microseconds with one warp.
inline long steps_for(double us) {
  Stream stream;
  const long trial = 200000;
  work<<<1, 32, 0, stream>>>(trial, nullptr);
  stream.synchronize();
  const double start = now_us();
  work<<<1, 32, 0, stream>>>(trial, nullptr);
  stream.synchronize();
  return static_cast<long>(static_cast<double>(trial) * us / (now_us() - start)) + 1;
}

}  // namespace probe
