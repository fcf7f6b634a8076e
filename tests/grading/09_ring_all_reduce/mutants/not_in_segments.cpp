// Misconception: segments are optional, because the result is the same without them.
//
// Killed by: Part4Pipelined.one_segment_a_message
// Diagnosis: not_in_segments
#include "mutant.h"
#define all_reduce_pipelined right_all_reduce_pipelined
#include DIST_SOLUTION
#undef all_reduce_pipelined

namespace lab {

void all_reduce_pipelined(Tensor& data, std::int64_t) { ring_all_reduce(data); }

}  // namespace lab
