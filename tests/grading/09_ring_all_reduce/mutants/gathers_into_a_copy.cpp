// Misconception: arriving data needs memory of its own.
//
// Killed by: Part2AllGather.one_chunk_a_step
// Diagnosis: scratch_as_long_as_the_data
#include "mutant.h"
#define all_gather right_all_gather
#include DIST_SOLUTION
#undef all_gather

namespace lab {

void all_gather(Tensor& data) {
  Tensor copy = data.clone();
  right_all_gather(copy);
  data.copy_(copy);
}

}  // namespace lab
