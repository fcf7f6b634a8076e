// Misconception: gradients of parameters that every rank has are averaged, as in data parallelism.
//
// Killed by: Part5Sequence.gradients_are_summed_once
// Diagnosis: averages_instead_of_sums
#include "mutant.h"
#define sum_gradients right_sum_gradients
#include DIST_SOLUTION
#undef sum_gradients

namespace lab {

void sum_gradients(std::vector<Tensor>& gradients, const ProcessGroup& group) {
  std::vector<Tensor> flat;
  for (const Tensor& gradient : gradients) flat.push_back(gradient.view({gradient.numel()}));
  Tensor all = stacked(flat);
  dist::all_reduce(all, dist::ReduceOp::avg, {.group = group});
  std::int64_t at = 0;
  for (Tensor& part : flat) {  // shares its memory with the gradient
    part.copy_(all.narrow(at, part.numel()));
    at += part.numel();
  }
}

}  // namespace lab
