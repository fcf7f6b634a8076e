// Misconception: stages with equally many layers take equally long.
//
// Killed by: Part1Cut.the_costliest_stage_costs_least
// Diagnosis: counts_layers
#include "mutant.h"
#define cut right_cut
#include DIST_SOLUTION
#undef cut

namespace lab {

std::vector<int> cut(const std::vector<double>& costs, int stages) {
  std::vector<int> sizes;
  const int layers = static_cast<int>(costs.size());
  for (int s = 0; s < stages; ++s) sizes.push_back((s + 1) * layers / stages - s * layers / stages);
  return sizes;
}

}  // namespace lab
