// Misconception: all units compute from the input of the model.
//
// Killed by: Part3Passes.forward_as_on_one_rank
// Diagnosis: none
#include "mutant.h"
#define forward right_forward
#include DIST_SOLUTION
#undef forward

namespace lab {

Tensor forward(const std::vector<Unit>& units, const Tensor& input, const Compute& compute) {
  Tensor output;
  for (std::size_t i = 0; i < units.size(); ++i) {
    Gather gather = start_gather(units[i]);
    output = compute.run_forward(i, finish_gather(units[i], gather), input);
  }
  return output;
}

}  // namespace lab
