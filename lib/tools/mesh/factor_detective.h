// The factor detective: compares the gradients of a model that is divided among ranks with those of one rank,
// and names the factor by which they differ. A wrong factor is silent: training still converges, a little
// worse.
#pragma once

#include <string>
#include <vector>

#include "dist/nn/state_dict.h"
#include "dist/parallel/checkpoint/pieces.h"
#include "dist/parallel/hybrid/hybrid_shape.h"

namespace dist {

// How a tensor differs from what one rank has.
struct GradientDifference {
  std::string name;
  double ratio = 1;      // the best factor: <got, expected> / <expected, expected>
  double remainder = 0;  // norm of got - ratio expected, relative to that of expected
  // "gradient of transformer.h.1.ln_1.weight is 2.000 times too large: the size of tp; ..."
  std::string sentence;
};

// Compares the pieces of all ranks with the whole tensors of one rank, which every rank passes. A
// difference within `tolerance` (norm-relative) is not listed. Collective over the default group: three
// all_reduces of a few f64 per tensor; the result is the same on every rank. `micro_batches` is one more
// factor to look for.
std::vector<GradientDifference> compare_gradients(const Pieces& got, const nn::StateDict& expected,
                                                  const HybridShape& shape, int micro_batches,
                                                  double tolerance);

// What is wrong with `norm`, which a mesh found for its gradients: one sentence, or none if it is one rank's.
// `got` and `expected` as above, and equal: only the way in which the parts were added up is in question.
// Collective over the default group: one all_reduce of two f64 per tensor.
std::string compare_norm(double norm, const Pieces& got, const nn::StateDict& expected, double tolerance);

}  // namespace dist
