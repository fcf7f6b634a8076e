// clip_grad_norm for parameters of which each rank has a part: the norm of the whole model's gradient.
#pragma once

#include <vector>

#include "dist/group/process_group.h"
#include "dist/nn/parameter.h"

namespace dist {

// A parameter and the groups over which it is sharded: along each, every rank has other elements. A parameter
// that is whole on the ranks of a group has equal gradients there, and the group is not named.
struct DividedParameter {
  nn::Parameter* parameter;
  std::vector<ProcessGroup> sharded_over = {};
};

// Multiplies all gradients by min(1, max_norm / (norm + 1e-6)), where norm is that of the whole gradient, in
// which each element counts once. Returns the norm before. Collective: one all_reduce of one f64 per distinct
// group, in which every rank must name the same groups in the same order; so all ranks get the same bits and
// take the same step. With `error_if_nonfinite` throws Error{invalid_argument} for a norm that is NaN or
// infinite, on all ranks; then nothing has changed.
double clip_grad_norm(const std::vector<DividedParameter>& parameters, double max_norm,
                      bool error_if_nonfinite = false, Caller at = Caller::here());

}  // namespace dist
