// Misconception: the number of segments is a quotient of integers plus one for the rest.
//
// Killed by: Part4Pipelined.one_segment_a_message
// Diagnosis: too_many_segments
#include "mutant.h"
#define all_reduce_pipelined right_all_reduce_pipelined
#include DIST_SOLUTION
#undef all_reduce_pipelined

namespace lab {

void all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  const std::int64_t n = dist::get_world_size(), longest = (data.numel() + n - 1) / n;
  const std::int64_t m = std::max<std::int64_t>(1, longest / segment + 1);
  right_all_reduce_pipelined(data, std::max<std::int64_t>(1, (longest + m - 1) / m));  // in m segments
}

}  // namespace lab
