// Misconception: computation comes first, communication afterwards.
//
// Killed by: Part2Overlap.hides_the_computation
// Diagnosis: starts_after_the_computation
#include "mutant.h"
#define overlap right_overlap
#include DIST_SOLUTION
#undef overlap

namespace lab {

void overlap(const Tensor& out, Tensor& in, int partner, const std::function<void()>& compute) {
  compute();
  right_overlap(out, in, partner, [] {});
}

}  // namespace lab
