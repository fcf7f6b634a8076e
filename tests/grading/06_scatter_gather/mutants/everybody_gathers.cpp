// Misconception: every rank gets the list, as with all_gather, and a rank that does not need it discards it.
//
// Killed by: Part2Gather.only_its_own_chunk
// Diagnosis: everybody_gathers
#include "mutant.h"
#define gather right_gather
#include DIST_SOLUTION
#undef gather

namespace lab {

void gather(const Tensor& mine, std::vector<Tensor>& list, int root) {
  for (int to = 0; to < dist::get_world_size(); ++to) {
    std::vector<Tensor> dropped;
    for (int i = 0; i < dist::get_world_size() && dist::get_rank() == to && to != root; ++i)
      dropped.push_back(dist::empty_like(mine));
    right_gather(mine, to == root ? list : dropped, to);
  }
}

}  // namespace lab
