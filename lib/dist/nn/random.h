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

}  // namespace dist::nn
