// Misconception: an all_reduce is finished when the reduce is finished.
//
// Killed by: Part2AllReduce.powers_of_two
// Diagnosis: result_on_rank_0_only
#include "mutant.h"
#define all_reduce_sum right_all_reduce_sum
#include DIST_SOLUTION
#undef all_reduce_sum

namespace lab {

void all_reduce_sum(Tensor& data) { reduce_to_0(data); }

}  // namespace lab
