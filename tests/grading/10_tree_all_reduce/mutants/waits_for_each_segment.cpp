// Misconception: segments alone make a pipeline.
//
// Killed by: Part4Pipelined.up_and_down_at_once
// Diagnosis: waits_for_each_segment
#include "mutant.h"
#define tree_all_reduce_pipelined right_tree_all_reduce_pipelined
#include DIST_SOLUTION
#undef tree_all_reduce_pipelined

namespace lab {

void tree_all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  for (Tensor& part : segments_of(data, segment)) tree_all_reduce(part);
}

}  // namespace lab
