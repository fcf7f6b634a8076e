// Misconception: segments are optional, because the result is the same without them.
//
// Killed by: Part4Pipelined.each_segment_once_up_once_down
// Diagnosis: not_in_segments
#include "mutant.h"
#define tree_all_reduce_pipelined right_tree_all_reduce_pipelined
#include DIST_SOLUTION
#undef tree_all_reduce_pipelined

namespace lab {

void tree_all_reduce_pipelined(Tensor& data, std::int64_t) { tree_all_reduce(data); }

}  // namespace lab
