// Misconception: a rank sends the sum of its subtree down at once, and the root's sum follows later. (Every
// link is used twice on the way down.)
//
// Killed by: Part3AllReduce.once_up_once_down
// Diagnosis: link_used_twice
#include "mutant.h"
#define tree_all_reduce right_tree_all_reduce
#include DIST_SOLUTION
#undef tree_all_reduce

namespace lab {

void tree_all_reduce(Tensor& data) {
  reduce_to_root(data);
  const Place place = my_place();
  for (const int child : place.children) dist::send(data, child);
  if (place.parent >= 0) {
    Tensor partial = dist::empty_like(data);
    dist::recv(partial, place.parent);
  }
  broadcast_from_root(data);
}

}  // namespace lab
