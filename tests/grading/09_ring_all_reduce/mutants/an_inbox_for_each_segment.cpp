// Misconception: every segment in flight needs memory of its own, so every segment gets a buffer.
//
// Killed by: Part4Pipelined.two_segments_of_scratch
// Diagnosis: scratch_as_long_as_the_data
#include "mutant.h"
#define all_reduce_pipelined right_all_reduce_pipelined
#include DIST_SOLUTION
#undef all_reduce_pipelined

namespace lab {

void all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  const Tensor inboxes = dist::empty_like(data);
  right_all_reduce_pipelined(data, segment);
  (void)inboxes;
}

}  // namespace lab
