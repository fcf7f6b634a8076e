// Misconception: the tensor is an output, so the function may assign a new one to it. But it is a handle to
// memory that others hold, too.
//
// Killed by: Part2AllReduce.powers_of_two
// Diagnosis: not_in_place
#include "mutant.h"
#define all_reduce_sum right_all_reduce_sum
#include DIST_SOLUTION
#undef all_reduce_sum

namespace lab {

void all_reduce_sum(Tensor& data) {
  Tensor sum = data.clone();
  right_all_reduce_sum(sum);
  data = sum;
}

}  // namespace lab
