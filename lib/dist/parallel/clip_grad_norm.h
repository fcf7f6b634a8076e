// clip_grad_norm for parameters that you have divided among ranks by hand, as programs before place()
// (mesh/placed.h) call it: nn::clip_grad_norm() with the records that these parameters would have.
#pragma once

#include <cstdint>
#include <vector>

#include "dist/group/process_group.h"
#include "dist/nn/parameter.h"

namespace dist {

// A parameter, and over which groups it is sharded: along those, every rank has different elements. Along
// others its gradients are equal on all ranks.
struct DividedParameter {
  nn::Parameter* parameter;
  std::uint32_t sharded_over = 0;  // a set of groups: bit g for group number g
  bool counts = true;              // false for a second copy, as of a tied table
};

// Multiplies all gradients by min(1, max_norm / (norm + 1e-6)), where norm is that of the whole gradient, in
// which each element counts once. Returns the norm before. Collective: one all_reduce per group, in their
// order, of at most 2^(groups - 1) f64; all ranks get the same bits and take the same step. At most 8 groups.
// Throws Error{invalid_argument} for a max_norm that is not above 0, before anything is sent; with
// `error_if_nonfinite` also for a norm that is NaN or infinite, on all ranks;
// then nothing has changed.
double clip_grad_norm(const std::vector<DividedParameter>& parameters,
                      const std::vector<ProcessGroup>& groups, double max_norm,
                      bool error_if_nonfinite = false, Caller at = Caller::here());

}  // namespace dist
