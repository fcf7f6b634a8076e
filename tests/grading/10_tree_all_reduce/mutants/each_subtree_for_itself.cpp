// Misconception: a sum does not depend on the order, so the rest of the tree may be added on the way down.
// (Every rank then adds in another order.)
//
// Killed by: Part3AllReduce.same_bits_on_all_ranks
// Diagnosis: each_rank_sums_in_its_own_order
#include "mutant.h"
#define tree_all_reduce right_tree_all_reduce
#include DIST_SOLUTION
#undef tree_all_reduce

namespace lab {

void tree_all_reduce(Tensor& data) {
  // The parent sends the sum of everything outside the child's subtree.
  const Place place = my_place();
  std::vector<Tensor> parts{data.clone()};
  for (const int child : place.children) {
    Tensor inbox = dist::empty_like(data);
    dist::recv(inbox, child);
    add(data, inbox);
    parts.push_back(inbox);
  }
  if (place.parent >= 0) {
    Tensor rest = dist::empty_like(data);
    dist::send(data, place.parent);
    dist::recv(rest, place.parent);
    add(data, rest);
    parts.push_back(rest);
  }
  for (std::size_t c = 0; c < place.children.size(); ++c) {
    Tensor others = dist::zeros_like(data);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i != c + 1) add(others, parts[i]);
    }
    dist::send(others, place.children[c]);
  }
}

}  // namespace lab
