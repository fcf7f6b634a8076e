// Random numbers for initial weights: those of torch. With one seed, layers made in one order begin with the
// very weights that PyTorch gives them on a CPU.
#pragma once

#include <cstdint>

#include "dist/core/tensor.h"

namespace dist::nn {

// Of this thread, or of this simulated rank; without it, all of them begin alike.
void manual_seed(std::uint64_t seed);

// As torch.empty(shape).uniform_(-bound, bound): f32, on the CPU.
Tensor uniform(Shape shape, double bound);

}  // namespace dist::nn
