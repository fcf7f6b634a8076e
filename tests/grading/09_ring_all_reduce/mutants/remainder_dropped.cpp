// Misconception: n chunks of length / n elements are all elements.
//
// Killed by: Part3AllReduce.any_length
// Diagnosis: remainder_dropped
#include "mutant.h"
#define ring_all_reduce right_ring_all_reduce
#include DIST_SOLUTION
#undef ring_all_reduce

namespace lab {

void ring_all_reduce(Tensor& data) {
  const std::int64_t n = dist::get_world_size();
  Tensor even = data.narrow(0, data.numel() / n * n);
  right_ring_all_reduce(even);
}

}  // namespace lab
