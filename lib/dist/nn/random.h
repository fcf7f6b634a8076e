// Random numbers for initial weights: those of torch. With the same seed, layers made in the same order begin
// with exactly the weights that PyTorch gives them on a CPU.
#pragma once

#include <cstdint>

#include "dist/core/tensor.h"

namespace dist::nn {

// Seeds this thread, or this simulated rank; without a call, all of them begin with the same numbers.
void manual_seed(std::uint64_t seed);

// Like torch.empty(shape).uniform_(-bound, bound): f32, on the CPU.
Tensor uniform(Shape shape, double bound);

// A number to draw other numbers from: 64 bits of this thread's generator.
std::uint64_t random_key();
// Like torch.empty(shape).normal_(0, deviation), but other numbers: each depends on the key and on its place
// alone, so that several ranks can draw slices of one tensor. f32, on the default device.
Tensor normal(Shape shape, double deviation, std::uint64_t key = random_key());

}  // namespace dist::nn
