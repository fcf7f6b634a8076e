// Misconception: layers / stages layers per stage; the division leaves no remainder.
//
// Killed by: Part1Cut.every_layer_is_on_one_stage
// Diagnosis: loses_layers
#include "mutant.h"
#define cut right_cut
#include DIST_SOLUTION
#undef cut

namespace lab {

std::vector<int> cut(const std::vector<double>& costs, int stages) {
  return std::vector<int>(static_cast<std::size_t>(stages), static_cast<int>(costs.size()) / stages);
}

}  // namespace lab
