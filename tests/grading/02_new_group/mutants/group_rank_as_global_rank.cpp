// Misconception: with .group, src is a rank of that group.
//
// Killed by: Part5Ranks.broadcast_in_row
// Diagnosis: group_rank_as_global_rank
#include "mutant.h"
#define broadcast_in_row right_broadcast_in_row
#include DIST_SOLUTION
#undef broadcast_in_row

namespace lab {

void broadcast_in_row(dist::Tensor& t, const Mesh& mesh, int column) {
  dist::broadcast(t, column, {.group = mesh.row});
}

}  // namespace lab
