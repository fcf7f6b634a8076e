// Misconception: any tree with ceil(log2 n) levels will do, so lab 07's way up is good enough. (Its root
// receives that many messages.)
//
// Killed by: Part2Reduce.once_up_each_link
// Diagnosis: too_many_children
#include "mutant.h"
#define reduce_to_root right_reduce_to_root
#include DIST_SOLUTION
#undef reduce_to_root

namespace lab {

void reduce_to_root(Tensor& data) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  Tensor inbox = dist::empty_like(data);
  for (int bit = 1; bit < n; bit *= 2) {
    if (rank & bit) return void(dist::send(data, rank - bit));
    if (rank + bit >= n) continue;
    dist::recv(inbox, rank + bit);
    add(data, inbox);
  }
}

}  // namespace lab
