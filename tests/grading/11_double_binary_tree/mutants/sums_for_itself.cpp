// Misconception: a sum does not depend on the order, so every rank may add for itself, beginning with its
// own numbers.
//
// Killed by: Part3AllReduce.same_bits_on_all_ranks
// Diagnosis: each_rank_sums_in_its_own_order
#include "mutant.h"
#define double_tree_all_reduce right_double_tree_all_reduce
#include DIST_SOLUTION
#undef double_tree_all_reduce

namespace lab {

void double_tree_all_reduce(Tensor& data, std::int64_t) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const Tensor mine = data.clone();
  for (int step = 1; step < n; ++step) {
    Tensor theirs = dist::empty_like(data);
    Work coming = dist::irecv(theirs, (rank + step) % n);
    dist::send(mine, (rank + n - step) % n);
    coming.wait();
    add(data, theirs);
  }
}

}  // namespace lab
