// Misconception: gradients are reduced when backward is over.
//
// Killed by: Part3Passes.backward_holds_one_unit
// Diagnosis: keeps_full_gradients
#include "mutant.h"
#define backward right_backward
#include DIST_SOLUTION
#undef backward

namespace lab {

void backward(std::vector<Unit>& units, const Tensor& grad_output, const Compute& compute) {
  Tensor grad = grad_output;
  std::vector<Tensors> all(units.size());
  for (std::size_t i = units.size(); i-- > 0;) {
    Gather gather = start_gather(units[i]);
    const Gradients gradients = compute.run_backward(i, finish_gather(units[i], gather), grad);
    all[i] = gradients.parameters;
    grad = gradients.input;
  }
  for (std::size_t i = units.size(); i-- > 0;) {
    Reduction reduction = start_reduction(units[i], all[i]);
    finish_reduction(units[i], reduction);
  }
}

}  // namespace lab
