// Misconception: every blocked rank is part of the cycle. Some ranks only wait for a rank of the cycle.
//
// Killed by: Part4WaitCycle.others_wait_for_it
// Diagnosis: tail_in_the_cycle
#include "mutant.h"
#define wait_cycle right_wait_cycle
#include DIST_SOLUTION
#undef wait_cycle

namespace lab {

std::vector<int> wait_cycle(const std::vector<int>& waits_for) {
  for (int start = 0; start < static_cast<int>(waits_for.size()); ++start) {
    std::vector<int> path;
    if (follow(waits_for, start, path) != -1) return path;
  }
  return {};
}

}  // namespace lab
