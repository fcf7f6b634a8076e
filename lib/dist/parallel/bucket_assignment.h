// Which gradients travel together. Pure functions: PyTorch's rule, without a tensor in sight.
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

// Indices into the gradients given, a list for each bucket. Gradients fill a bucket in the order given; it
// closes as soon as it holds its limit, and the next one has the next limit (the last limit repeats; none:
// buckets have no limit). Gradients of another dtype or device have buckets of their own. Buckets are ordered
// by their first gradient.
// Source: torch.distributed._compute_bucket_assignment_by_size of PyTorch 1.13
// (tests/golden/ddp_buckets.json).
std::vector<std::vector<std::size_t>> assign_buckets(std::span<const GradientSize> gradients,
                                                     std::span<const std::size_t> limits);

}  // namespace dist
