// Misconception: f32, the default dtype, is precise enough to compare seconds.
//
// Killed by: Part5Ranks.slowest_in_column
// Diagnosis: seconds_through_f32
#include "mutant.h"
#define slowest_in_column right_slowest_in_column
#include DIST_SOLUTION
#undef slowest_in_column

namespace lab {

int slowest_in_column(const Mesh& mesh, double seconds) {
  return right_slowest_in_column(mesh, static_cast<float>(seconds));
}

}  // namespace lab
