// Misconception: only the root has the result, so it sends it to every rank.
//
// Killed by: Part3AllReduce.once_up_once_down
// Diagnosis: root_serves_everybody
#include "mutant.h"
#define tree_all_reduce right_tree_all_reduce
#include DIST_SOLUTION
#undef tree_all_reduce

namespace lab {

void tree_all_reduce(Tensor& data) {
  reduce_to_root(data);
  const int rank = dist::get_rank(), n = dist::get_world_size();
  if (rank > 0) dist::recv(data, 0);
  for (int other = 1; rank == 0 && other < n; ++other) dist::send(data, other);
}

}  // namespace lab
