// Misconception: each gradient is a tensor of its own, so each has its all_reduce.
//
// Killed by: Part5Sequence.gradients_are_summed_once
// Diagnosis: one_all_reduce_per_piece
#include "mutant.h"
#define sum_gradients right_sum_gradients
#include DIST_SOLUTION
#undef sum_gradients

namespace lab {

void sum_gradients(std::vector<Tensor>& gradients, const ProcessGroup& group) {
  for (Tensor& gradient : gradients) dist::all_reduce(gradient, {.group = group});
}

}  // namespace lab
