// Misconception: both passes go through the units in their order.
//
// Killed by: Part3Passes.backward_as_on_one_rank
// Diagnosis: backward_in_the_order_of_forward
#include "mutant.h"
#define backward right_backward
#include DIST_SOLUTION
#undef backward

namespace lab {

void backward(std::vector<Unit>& units, const Tensor& grad_output, const Compute& compute) {
  Tensor grad = grad_output;
  for (std::size_t i = 0; i < units.size(); ++i) {
    Gather gather = start_gather(units[i]);
    const Gradients gradients = compute.run_backward(i, finish_gather(units[i], gather), grad);
    Reduction reduction = start_reduction(units[i], gradients.parameters);
    finish_reduction(units[i], reduction);
    grad = gradients.input;
  }
}

}  // namespace lab
