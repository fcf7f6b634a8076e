// Misconception: every number is an f32.
//
// Killed by: Part1AllGather.any_dtype
// Diagnosis: none
#include "mutant.h"
#define all_gather right_all_gather
#include DIST_SOLUTION
#undef all_gather

namespace lab {

void all_gather(Tensor& all, const Tensor& mine) {
  Tensor rounded = all.to(dist::DType::f32);
  right_all_gather(rounded, mine.to(dist::DType::f32));
  all.copy_(rounded.to(all.dtype()));
}

}  // namespace lab
