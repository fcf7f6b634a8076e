// Misconception: a local rank is right because the launcher gives it.
//
// Killed by: Part1Place.refuses_what_does_not_exist
// Diagnosis: none
#include "mutant.h"
#define place_of right_place_of
#include DIST_SOLUTION
#undef place_of

namespace lab {

Place place_of(const std::vector<int>& processes_per_node, int node, int local_rank) {
  const auto first = processes_per_node.begin();
  if (node < 0 || node >= static_cast<int>(processes_per_node.size()))
    fail(Errc::invalid_argument, "node {} does not exist", node);
  return {.rank = std::accumulate(first, first + node, 0) + local_rank,
          .local_rank = local_rank,
          .world_size = std::accumulate(first, processes_per_node.end(), 0)};
}

}  // namespace lab
