// Misconception: a group rank means the same to every rank.
//
// Killed by: Part5Ranks.slowest_in_column
// Diagnosis: group_rank_as_global_rank
#include "mutant.h"
#define slowest_in_column right_slowest_in_column
#include DIST_SOLUTION
#undef slowest_in_column

namespace lab {

int slowest_in_column(const Mesh& mesh, double seconds) {
  return mesh.column.group_rank(right_slowest_in_column(mesh, seconds));
}

}  // namespace lab
