// Misconception: what is prefetched must be there before the unit computes.
//
// Killed by: Part4Prefetch.forward_hides_all_but_the_first_gather
// Diagnosis: hides_nothing
#include "mutant.h"
#define prefetching_forward right_prefetching_forward
#include DIST_SOLUTION
#undef prefetching_forward

namespace lab {

Tensor prefetching_forward(const std::vector<Unit>& units, const Tensor& input, const Compute& compute) {
  Tensor output = input;
  Gather next = start_gather(units.front());
  for (std::size_t i = 0; i < units.size(); ++i) {
    const Tensors parameters = finish_gather(units[i], next);
    if (i + 1 < units.size()) {
      next = start_gather(units[i + 1]);
      next.work.wait();
    }
    output = compute.run_forward(i, parameters, output);
  }
  return output;
}

}  // namespace lab
