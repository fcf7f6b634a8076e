// Misconception: an all_reduce is finished when the reduce is finished.
//
// Killed by: Part3AllReduce.any_number_of_ranks
// Diagnosis: result_on_rank_0_only
#include "mutant.h"
#define tree_all_reduce right_tree_all_reduce
#include DIST_SOLUTION
#undef tree_all_reduce

namespace lab {

void tree_all_reduce(Tensor& data) { reduce_to_root(data); }

}  // namespace lab
