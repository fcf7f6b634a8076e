// A loss or gradient on a mesh that is not a finite number: on which rank, and in which layer, it began.
#pragma once

#include <cstdint>

#include "dist/data/dataset.h"
#include "dist/parallel/hybrid/hybrid_gpt.h"

namespace distlab {

// Throws Error{invalid_argument}, the same on all ranks, if the loss, which is equal on all ranks, is not
// finite; only then the model runs once more, with the batch of this rank. Collective.
void expect_finite_on_mesh(double loss, std::int64_t step, double lr, dist::HybridGpt& model,
                           const dist::data::Batch& batch);

// HybridGpt::clip_grad_norm(). If the norm is not finite, instead throws Error{invalid_argument}, the same on
// all ranks. Collective.
double clip_finite_on_mesh(std::int64_t step, double lr, dist::HybridGpt& model, double max_norm);

}  // namespace distlab
