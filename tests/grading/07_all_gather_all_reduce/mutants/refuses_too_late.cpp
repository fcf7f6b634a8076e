// Misconception: the division will complain about integers by itself. (The sum was made for nothing, and
// data is changed.)
//
// Killed by: Part3Average.integers_are_refused
// Diagnosis: refuses_too_late
#include "mutant.h"
#define all_reduce_avg right_all_reduce_avg
#include DIST_SOLUTION
#undef all_reduce_avg

namespace lab {

void all_reduce_avg(Tensor& data) {
  all_reduce_sum(data);
  data.div_(dist::get_world_size());
}

}  // namespace lab
