// Misconception: every link is used once up and once down, so a chain will do.
//
// Killed by: Part3AllReduce.few_rounds
// Diagnosis: tree_too_deep
#include "mutant.h"
#define tree_all_reduce right_tree_all_reduce
#include DIST_SOLUTION
#undef tree_all_reduce

namespace lab {

void tree_all_reduce(Tensor& data) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  if (rank + 1 < n) {
    Tensor inbox = dist::empty_like(data);
    dist::recv(inbox, rank + 1);
    add(data, inbox);
  }
  if (rank > 0) {
    dist::send(data, rank - 1);
    dist::recv(data, rank - 1);
  }
  if (rank + 1 < n) dist::send(data, rank + 1);
}

}  // namespace lab
