// Misconception: all waits are connected, so a walk from rank 0 finds the cycle. Rank 0 may not be blocked at
// all.
//
// Killed by: Part4WaitCycle.others_wait_for_it
// Diagnosis: looks_from_rank_0_only
#include "mutant.h"
#define wait_cycle right_wait_cycle
#include DIST_SOLUTION
#undef wait_cycle

namespace lab {

std::vector<int> wait_cycle(const std::vector<int>& waits_for) {
  std::vector<int> path;
  if (waits_for.empty()) return {};
  const int meets = follow(waits_for, 0, path);
  std::vector<int> cycle(std::ranges::find(path, meets), path.end());
  std::ranges::rotate(cycle, std::ranges::min_element(cycle));
  return cycle;
}

}  // namespace lab
