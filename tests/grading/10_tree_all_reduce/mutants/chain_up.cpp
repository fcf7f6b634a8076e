// Misconception: every rank adds its numbers and passes the sum on; a link is used once, as in a tree.
//
// Killed by: Part2Reduce.few_rounds
// Diagnosis: tree_too_deep
#include "mutant.h"
#define reduce_to_root right_reduce_to_root
#include DIST_SOLUTION
#undef reduce_to_root

namespace lab {

void reduce_to_root(Tensor& data) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  if (rank + 1 < n) {
    Tensor inbox = dist::empty_like(data);
    dist::recv(inbox, rank + 1);
    add(data, inbox);
  }
  if (rank > 0) dist::send(data, rank - 1);
}

}  // namespace lab
