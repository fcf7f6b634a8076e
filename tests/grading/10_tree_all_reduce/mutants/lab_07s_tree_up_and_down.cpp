// Misconception: lab 07's function summed up a tree and broadcast the result, so the same function will do
// here.
//
// Killed by: Part3AllReduce.once_up_once_down
// Diagnosis: too_many_children
#include "mutant.h"
#define tree_all_reduce right_tree_all_reduce
#include DIST_SOLUTION
#undef tree_all_reduce

namespace lab {

void tree_all_reduce(Tensor& data) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const int lowest = rank == 0 ? static_cast<int>(std::bit_ceil(static_cast<unsigned>(n))) : rank & -rank;
  Tensor inbox = dist::empty_like(data);
  for (int bit = 1; bit < lowest; bit *= 2) {
    if (rank + bit >= n) continue;
    dist::recv(inbox, rank + bit);
    add(data, inbox);
  }
  if (rank > 0) {
    dist::send(data, rank - lowest);
    dist::recv(data, rank - lowest);
  }
  for (int bit = lowest / 2; bit > 0; bit /= 2)
    if (rank + bit < n) dist::send(data, rank + bit);
}

}  // namespace lab
