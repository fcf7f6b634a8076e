// Misconception: `t = ...` fills the caller's tensor.
//
// Killed by: Part5Ranks.broadcast_in_row
// Diagnosis: another_name
#include "mutant.h"
#define broadcast_in_row right_broadcast_in_row
#include DIST_SOLUTION
#undef broadcast_in_row

namespace lab {

void broadcast_in_row(dist::Tensor& t, const Mesh& mesh, int column) {
  auto copy = t.clone();
  right_broadcast_in_row(copy, mesh, column);
  t = copy;
}

}  // namespace lab
