// Misconception: the local rank is the rank. This is true on a single node only.
//
// Killed by: Part1Place.even_nodes
// Diagnosis: local_rank_as_rank
#include "mutant.h"
#define place_of right_place_of
#include DIST_SOLUTION
#undef place_of

namespace lab {

Place place_of(const std::vector<int>& processes_per_node, int node, int local_rank) {
  auto place = right_place_of(processes_per_node, node, local_rank);
  place.rank = local_rank;
  return place;
}

}  // namespace lab
