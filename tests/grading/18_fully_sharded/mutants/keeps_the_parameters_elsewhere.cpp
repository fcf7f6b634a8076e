// Misconception: what is in a std::vector does not count as memory, so each unit that has been gathered once
// is remembered there.
//
// Killed by: Part3Passes.forward_holds_one_unit
// Diagnosis: keeps_whole_units_outside_of_tensors
#include "mutant.h"
#define forward right_forward
#include DIST_SOLUTION
#undef forward

namespace lab {

Tensor forward(const std::vector<Unit>& units, const Tensor& input, const Compute& compute) {
  static std::vector<std::vector<double>> remembered;
  Tensor output = input;
  for (std::size_t i = 0; i < units.size(); ++i) {
    Gather gather = start_gather(units[i]);
    const Tensors parameters = finish_gather(units[i], gather);
    for (const Tensor& parameter : parameters) remembered.push_back(parameter.to_vector<double>());
    output = compute.run_forward(i, parameters, output);
  }
  return output;
}

}  // namespace lab
