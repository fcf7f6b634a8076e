// Misconception: every rank divides its own numbers by n, and at the end the sum is divided by n.
//
// Killed by: Part3Average.means
// Diagnosis: divides_twice
#include "mutant.h"
#define all_reduce_avg right_all_reduce_avg
#include DIST_SOLUTION
#undef all_reduce_avg

namespace lab {

void all_reduce_avg(Tensor& data) {
  if (dist::is_floating_point(data.dtype())) data.div_(dist::get_world_size());
  right_all_reduce_avg(data);
}

}  // namespace lab
