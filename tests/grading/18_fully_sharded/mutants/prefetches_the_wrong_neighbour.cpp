// Misconception: the next unit is unit i + 1, in backward, too.
//
// Killed by: Part4Prefetch.backward_hides_all_but_the_ends
// Diagnosis: prefetches_the_wrong_neighbour
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
    if (i + 1 < units.size()) {
      Gather after = start_gather(units[i + 1]);
      finish_gather(units[i + 1], after);
    }
    const Gradients gradients = compute.run_backward(i, parameters, grad);
    if (i > 0) next = start_gather(units[i - 1]);
    if (i + 1 < units.size()) finish_reduction(units[i + 1], last);
    last = start_reduction(units[i], gradients.parameters);
    grad = gradients.input;
  }
  finish_reduction(units.front(), last);
}

}  // namespace lab
