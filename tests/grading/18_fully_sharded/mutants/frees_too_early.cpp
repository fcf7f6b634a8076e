// Misconception: forward has gathered the parameters, so backward need not do it again.
//
// Killed by: Part3Passes.backward_as_on_one_rank
// Diagnosis: frees_before_backward_needs_it
#include "mutant.h"
#define backward right_backward
#include DIST_SOLUTION
#undef backward

namespace lab {

void backward(std::vector<Unit>& units, const Tensor& grad_output, const Compute& compute) {
  Tensor grad = grad_output;
  for (std::size_t i = units.size(); i-- > 0;) {
    const Gradients gradients = compute.run_backward(i, {units[i].shard}, grad);
    Reduction reduction = start_reduction(units[i], gradients.parameters);
    finish_reduction(units[i], reduction);
    grad = gradients.input;
  }
}

}  // namespace lab
