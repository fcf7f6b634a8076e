// Misconception: a finished Work costs nothing, so all of them stay in a list. (Each holds its tensors.)
//
// Killed by: Part3Passes.forward_holds_one_unit
// Diagnosis: keeps_whole_units_outside_of_tensors
#include "mutant.h"
#define forward right_forward
#include DIST_SOLUTION
#undef forward

namespace lab {

Tensor forward(const std::vector<Unit>& units, const Tensor& input, const Compute& compute) {
  std::vector<dist::Work> works;
  Tensor output = input;
  for (std::size_t i = 0; i < units.size(); ++i) {
    Gather gather = start_gather(units[i]);
    works.push_back(gather.work);
    output = compute.run_forward(i, finish_gather(units[i], gather), output);
  }
  return output;
}

}  // namespace lab
