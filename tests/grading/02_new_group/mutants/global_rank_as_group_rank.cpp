// Misconception: .group_src is the argument for groups, and it takes a global rank as all other arguments do.
//
// Killed by: Part5Ranks.broadcast_in_row
// Diagnosis: global_rank_as_group_rank
#include "mutant.h"
#define broadcast_in_row right_broadcast_in_row
#include DIST_SOLUTION
#undef broadcast_in_row

namespace lab {

void broadcast_in_row(dist::Tensor& t, const Mesh& mesh, int column) {
  dist::broadcast(t, 0, {.group = mesh.row, .group_src = mesh.row.global_rank(column)});
}

}  // namespace lab
