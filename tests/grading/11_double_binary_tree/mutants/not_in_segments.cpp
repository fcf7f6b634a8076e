// Misconception: two halves are two segments, and that is enough.
//
// Killed by: Part3AllReduce.twice_the_data
// Diagnosis: not_in_segments
#include "mutant.h"
#define double_tree_all_reduce right_double_tree_all_reduce
#include DIST_SOLUTION
#undef double_tree_all_reduce

namespace lab {

void double_tree_all_reduce(Tensor& data, std::int64_t) {
  right_double_tree_all_reduce(data, std::max<std::int64_t>(1, data.numel()));
}

}  // namespace lab
