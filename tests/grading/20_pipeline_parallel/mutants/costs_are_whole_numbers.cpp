// Misconception: costs count something, so whole numbers are enough. (They may be seconds.)
//
// Killed by: Part1Cut.the_costliest_stage_costs_least
// Diagnosis: rounds_the_costs
#include "mutant.h"
#define cut right_cut
#include DIST_SOLUTION
#undef cut

namespace lab {

std::vector<int> cut(const std::vector<double>& costs, int stages) {
  std::vector<double> whole;
  for (const double cost : costs) whole.push_back(static_cast<int>(cost));
  return right_cut(whole, stages);
}

}  // namespace lab
