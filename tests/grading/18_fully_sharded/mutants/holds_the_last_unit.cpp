// Misconception: a variable before the loop is declared once, which is tidier. (It holds the last unit while
// the next one comes.)
//
// Killed by: Part3Passes.forward_holds_one_unit
// Diagnosis: keeps_the_parameters
#include "mutant.h"
#define forward right_forward
#include DIST_SOLUTION
#undef forward

namespace lab {

Tensor forward(const std::vector<Unit>& units, const Tensor& input, const Compute& compute) {
  Tensor output = input;
  Tensors parameters;
  for (std::size_t i = 0; i < units.size(); ++i) {
    Gather gather = start_gather(units[i]);
    parameters = finish_gather(units[i], gather);
    output = compute.run_forward(i, parameters, output);
  }
  return output;
}

}  // namespace lab
