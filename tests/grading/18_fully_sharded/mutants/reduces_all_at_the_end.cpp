// Misconception: reductions that were started take care of themselves; it is enough to wait at the end.
//
// Killed by: Part4Prefetch.one_gather_ahead
// Diagnosis: keeps_full_gradients
#include "mutant.h"
#define prefetching_backward right_prefetching_backward
#include DIST_SOLUTION
#undef prefetching_backward

namespace lab {

void prefetching_backward(std::vector<Unit>& units, const Tensor& grad_output, const Compute& compute) {
  Tensor grad = grad_output;
  Gather next = start_gather(units.back());
  std::vector<Reduction> all(units.size());
  for (std::size_t i = units.size(); i-- > 0;) {
    const Tensors parameters = finish_gather(units[i], next);
    if (i > 0) next = start_gather(units[i - 1]);
    const Gradients gradients = compute.run_backward(i, parameters, grad);
    all[i] = start_reduction(units[i], gradients.parameters);
    grad = gradients.input;
  }
  for (std::size_t i = 0; i < units.size(); ++i) finish_reduction(units[i], all[i]);
}

}  // namespace lab
