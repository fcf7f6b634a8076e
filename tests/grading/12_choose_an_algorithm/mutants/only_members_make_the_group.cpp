// Misconception: a group is created by its members.
//
// Killed by: Part4Hierarchical.sums_over_nodes
// Diagnosis: only_members_make_the_group
#include "mutant.h"
#define make_groups right_make_groups
#include DIST_SOLUTION
#undef make_groups

namespace lab {

Groups make_groups(int gpus) {
  const int rank = dist::get_rank(), nodes = dist::get_world_size() / gpus;
  std::vector<int> within, across;
  for (int gpu = 0; gpu < gpus; ++gpu) within.push_back(rank / gpus * gpus + gpu);
  for (int node = 0; node < nodes; ++node) across.push_back(node * gpus + rank % gpus);
  Groups mine;
  mine.within = dist::new_group(within);
  mine.across = dist::new_group(across);
  return mine;
}

}  // namespace lab
