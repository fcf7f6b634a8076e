// Misconception: rank 0 makes the sum, so only rank 0 divides. (Dividing after the broadcast is too late.)
//
// Killed by: Part3Average.means
// Diagnosis: divides_on_rank_0_only
#include "mutant.h"
#define all_reduce_avg right_all_reduce_avg
#include DIST_SOLUTION
#undef all_reduce_avg

namespace lab {

void all_reduce_avg(Tensor& data) {
  if (!dist::is_floating_point(data.dtype())) return right_all_reduce_avg(data);
  all_reduce_sum(data);
  if (dist::get_rank() == 0) data.div_(dist::get_world_size());
}

}  // namespace lab
