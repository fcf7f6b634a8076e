// Misconception: every rank receives all numbers and adds them up in the order of the ranks. (The result is
// right.)
//
// Killed by: Part3AllReduce.two_n_minus_1_over_n
// Diagnosis: gathers_everything_to_sum
#include "mutant.h"
#define ring_all_reduce right_ring_all_reduce
#include DIST_SOLUTION
#undef ring_all_reduce

namespace lab {

void ring_all_reduce(Tensor& data) {
  const int n = dist::get_world_size();
  Tensor all = dist::empty({n * data.numel()}, data.dtype());
  const auto numbers_of = [&](int rank) { return all.narrow(rank * data.numel(), data.numel()); };
  Tensor own = numbers_of(dist::get_rank());
  own.copy_(data);
  all_gather(all);
  data.zero_();
  for (int rank = 0; rank < n; ++rank) add(data, numbers_of(rank));
}

}  // namespace lab
