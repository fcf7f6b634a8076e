// Misconception: a walk along the waits comes back to its start. It does so only if it started in the cycle.
//
// Killed by: Part4WaitCycle.others_wait_for_it
// Diagnosis: walks_for_ever
#include "mutant.h"
#define wait_cycle right_wait_cycle
#include DIST_SOLUTION
#undef wait_cycle

namespace lab {

std::vector<int> wait_cycle(const std::vector<int>& waits_for) {
  for (int start = 0; start < static_cast<int>(waits_for.size()); ++start) {
    std::vector<int> path;
    int at = start;
    do {
      path.push_back(at);
      at = waits_for[static_cast<std::size_t>(at)];
      if (path.size() > 1000) path.clear();  // still endless, with bounded memory
    } while (at != -1 && at != start);
    if (at == start) return path;
  }
  return {};
}

}  // namespace lab
