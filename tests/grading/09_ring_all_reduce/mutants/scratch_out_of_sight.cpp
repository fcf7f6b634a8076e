// Misconception: memory that is not in a tensor costs nothing, so the scratch may be a std::vector as long
// as the data.
//
// Killed by: Part3AllReduce.two_n_minus_1_over_n
// Diagnosis: scratch_as_long_as_the_data
#include "mutant.h"
#define ring_all_reduce right_ring_all_reduce
#include DIST_SOLUTION
#undef ring_all_reduce

namespace lab {

void ring_all_reduce(Tensor& data) {
  const std::vector<std::byte> before(static_cast<const std::byte*>(data.raw()),
                                      static_cast<const std::byte*>(data.raw()) + data.nbytes());
  right_ring_all_reduce(data);
  if (before.size() != data.nbytes()) data.zero_();
}

}  // namespace lab
