// Which gradients share a bucket. Pure functions without tensors: PyTorch's rule.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dist/core/types.h"

namespace dist {

struct GradientSize {
  std::size_t bytes = 0;
  DType dtype = DType::f32;
  Device device = cpu;
};

// Indices into the given gradients, one list per bucket. Gradients fill a bucket in the given order; it
// closes as soon as it has reached its limit, and the next one has the next limit (the last limit repeats;
// without limits, buckets are unlimited). Gradients of another dtype or device have buckets of their own.
// Buckets are ordered by their first gradient.
// Source: torch.distributed._compute_bucket_assignment_by_size of PyTorch 1.13
// (tests/golden/ddp_buckets.json).
std::vector<std::vector<std::size_t>> assign_buckets(std::span<const GradientSize> gradients,
                                                     std::span<const std::size_t> limits);

}  // namespace dist
