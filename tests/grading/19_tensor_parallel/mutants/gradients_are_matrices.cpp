// Misconception: a gradient has rows and columns.
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
  for (const Tensor& gradient : gradients)
    flat.push_back(gradient.view({gradient.size(0) * gradient.size(1)}));
  right_sum_gradients(flat, group);  // they share their memory with the gradients
}

}  // namespace lab
