// Misconception: the all_reduce is finished once every chunk is summed on some rank.
//
// Killed by: Part3AllReduce.any_number_of_ranks
// Diagnosis: half_of_it
#include "mutant.h"
#define ring_all_reduce right_ring_all_reduce
#include DIST_SOLUTION
#undef ring_all_reduce

namespace lab {

void ring_all_reduce(Tensor& data) { reduce_scatter(data); }

}  // namespace lab
