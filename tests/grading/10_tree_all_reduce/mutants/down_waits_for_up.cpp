// Misconception: first all segments are reduced, then all segments are broadcast, and each half is pipelined.
//
// Killed by: Part4Pipelined.up_and_down_at_once
// Diagnosis: down_waits_for_up
#include "mutant.h"
#define tree_all_reduce_pipelined right_tree_all_reduce_pipelined
#include DIST_SOLUTION
#undef tree_all_reduce_pipelined

namespace lab {

void tree_all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  Pipeline tree(data, segment);
  for (std::size_t s = 0; s < tree.parts.size(); ++s) tree.up(s);
  for (std::size_t s = 0; s < tree.parts.size(); ++s) tree.down(s);
  tree.finish();
}

}  // namespace lab
