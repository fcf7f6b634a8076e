// Misconception: the earlier a reduction starts, the better; the one before can be finished afterwards.
//
// Killed by: Part4Prefetch.one_gather_ahead
// Diagnosis: two_reductions_in_flight
#include "mutant.h"
#define prefetching_backward right_prefetching_backward
#include DIST_SOLUTION
#undef prefetching_backward

namespace lab {

void prefetching_backward(std::vector<Unit>& units, const Tensor& grad_output, const Compute& compute) {
  Tensor grad = grad_output;
  Gather next = start_gather(units.back());
  Reduction last;
  for (std::size_t i = units.size(); i-- > 0;) {
    const Tensors parameters = finish_gather(units[i], next);
    if (i > 0) next = start_gather(units[i - 1]);
    const Gradients gradients = compute.run_backward(i, parameters, grad);
    Reduction reduction = start_reduction(units[i], gradients.parameters);
    if (i + 1 < units.size()) finish_reduction(units[i + 1], last);
    last = reduction;
    grad = gradients.input;
  }
  finish_reduction(units[0], last);
}

}  // namespace lab
