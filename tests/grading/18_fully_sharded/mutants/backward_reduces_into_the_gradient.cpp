// Misconception: the mean may be written straight into unit.gradient, which saves a tensor.
//
// Killed by: Part3Passes.backward_as_on_one_rank
// Diagnosis: overwrites_the_gradient
#include "mutant.h"
#define backward right_backward
#include DIST_SOLUTION
#undef backward

namespace lab {

void backward(std::vector<Unit>& units, const Tensor& grad_output, const Compute& compute) {
  Tensor grad = grad_output;
  for (std::size_t i = units.size(); i-- > 0;) {
    Gather gather = start_gather(units[i]);
    const Gradients gradients = compute.run_backward(i, finish_gather(units[i], gather), grad);
    Reduction reduction = start_reduction(units[i], gradients.parameters);
    reduction.work.wait();
    units[i].gradient.copy_(reduction.mean);
    grad = gradients.input;
  }
}

}  // namespace lab
