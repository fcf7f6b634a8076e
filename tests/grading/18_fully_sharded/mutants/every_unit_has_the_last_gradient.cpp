// Misconception: all units have the gradient of the model's output.
//
// Killed by: Part3Passes.backward_as_on_one_rank
// Diagnosis: none
#include "mutant.h"
#define backward right_backward
#include DIST_SOLUTION
#undef backward

namespace lab {

void backward(std::vector<Unit>& units, const Tensor& grad_output, const Compute& compute) {
  for (std::size_t i = units.size(); i-- > 0;) {
    Gather gather = start_gather(units[i]);
    const Gradients gradients = compute.run_backward(i, finish_gather(units[i], gather), grad_output);
    Reduction reduction = start_reduction(units[i], gradients.parameters);
    finish_reduction(units[i], reduction);
  }
}

}  // namespace lab
