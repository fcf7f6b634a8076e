// Misconception: backward needs the parameters twice: for the gradient of the input and for that of the
// weight.
//
// Killed by: Part3Passes.one_collective_per_unit
// Diagnosis: gathers_too_often
#include "mutant.h"
#define backward right_backward
#include DIST_SOLUTION
#undef backward

namespace lab {

void backward(std::vector<Unit>& units, const Tensor& grad_output, const Compute& compute) {
  Tensor grad = grad_output;
  for (std::size_t i = units.size(); i-- > 0;) {
    Gather once = start_gather(units[i]);
    finish_gather(units[i], once);
    Gather gather = start_gather(units[i]);
    const Gradients gradients = compute.run_backward(i, finish_gather(units[i], gather), grad);
    Reduction reduction = start_reduction(units[i], gradients.parameters);
    finish_reduction(units[i], reduction);
    grad = gradients.input;
  }
}

}  // namespace lab
