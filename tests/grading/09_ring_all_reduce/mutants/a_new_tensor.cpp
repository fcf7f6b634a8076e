// Misconception: the tensor is an output, so the function may assign a new one to it. But it is a handle to
// memory that others hold, too.
//
// Killed by: Part3AllReduce.any_number_of_ranks
// Diagnosis: not_in_place
#include "mutant.h"
#define ring_all_reduce right_ring_all_reduce
#include DIST_SOLUTION
#undef ring_all_reduce

namespace lab {

void ring_all_reduce(Tensor& data) {
  data = data.clone();
  right_ring_all_reduce(data);
}

}  // namespace lab
