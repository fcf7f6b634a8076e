// Misconception: a scatter along a tree is faster, so it is a better answer to every part.
//
// Killed by: Part1Scatter.only_its_own_chunk
// Diagnosis: not_flat
#include "mutant.h"
#define scatter right_scatter
#include DIST_SOLUTION
#undef scatter

namespace lab {

void scatter(Tensor& mine, const std::vector<Tensor>& list, int root) {
  Tensor all;
  if (dist::get_rank() == root) {
    all = dist::empty({dist::get_world_size() * mine.numel()});
    for (std::size_t r = 0; r < list.size(); ++r)
      all.narrow(static_cast<std::int64_t>(r) * mine.numel(), mine.numel()).copy_(list[r]);
  }
  tree_scatter(mine, all, root);
}

}  // namespace lab
