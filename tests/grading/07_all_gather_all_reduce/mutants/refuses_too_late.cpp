// Misconception: the division will report an error for integers by itself. (By then the sum was computed for
// nothing, and the data has changed.)
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
