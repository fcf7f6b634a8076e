// Misconception: rank = node * processes per node + local rank holds on every cluster.
//
// Killed by: Part1Place.uneven_nodes
// Diagnosis: assumes_even_nodes
#include "mutant.h"
#define place_of right_place_of
#include DIST_SOLUTION
#undef place_of

namespace lab {

Place place_of(const std::vector<int>& processes_per_node, int node, int local_rank) {
  auto place = right_place_of(processes_per_node, node, local_rank);
  place.rank = node * processes_per_node[static_cast<std::size_t>(node)] + local_rank;
  return place;
}

}  // namespace lab
