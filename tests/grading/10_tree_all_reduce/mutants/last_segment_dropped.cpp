// Misconception: there are numel / segment segments.
//
// Killed by: Part4Pipelined.any_number_of_ranks
// Diagnosis: last_segment_dropped
#include "mutant.h"
#define tree_all_reduce_pipelined right_tree_all_reduce_pipelined
#include DIST_SOLUTION
#undef tree_all_reduce_pipelined

namespace lab {

void tree_all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  Tensor whole = data.narrow(0, data.numel() / segment * segment);
  right_tree_all_reduce_pipelined(whole, segment);
}

}  // namespace lab
