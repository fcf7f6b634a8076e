// Misconception: every rank has the same gradients of what is outside the pairs, so their sum is n times
// the largest.
//
// Killed by: Part5Sequence.gradients_are_summed_once
// Diagnosis: none
#include "mutant.h"
#define sum_gradients right_sum_gradients
#include DIST_SOLUTION
#undef sum_gradients

namespace lab {

void sum_gradients(std::vector<Tensor>& gradients, const ProcessGroup& group) {
  std::vector<Tensor> flat;
  for (const Tensor& gradient : gradients) flat.push_back(gradient.view({gradient.numel()}));
  Tensor all = stacked(flat);
  dist::all_reduce(all, dist::ReduceOp::max, {.group = group});
  all.mul_(group.size());
  std::int64_t at = 0;
  for (Tensor& part : flat) {
    part.copy_(all.narrow(at, part.numel()));
    at += part.numel();
  }
}

}  // namespace lab
