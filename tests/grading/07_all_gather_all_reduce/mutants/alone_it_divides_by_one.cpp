// Misconception: a rank that is alone has its mean already, whatever the dtype is.
//
// Killed by: Part3Average.integers_are_refused
// Diagnosis: not_refused
#include "mutant.h"
#define all_reduce_avg right_all_reduce_avg
#include DIST_SOLUTION
#undef all_reduce_avg

namespace lab {

void all_reduce_avg(Tensor& data) {
  if (dist::get_world_size() > 1) right_all_reduce_avg(data);
}

}  // namespace lab
