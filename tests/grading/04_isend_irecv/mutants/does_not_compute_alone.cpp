// Misconception: a rank that is its own partner copies the tensor and is done.
//
// Killed by: Part2Overlap.swaps_and_computes_once
// Diagnosis: computes_twice_or_never
#include "mutant.h"
#define overlap right_overlap
#include DIST_SOLUTION
#undef overlap

namespace lab {

void overlap(const Tensor& out, Tensor& in, int partner, const std::function<void()>& compute) {
  if (partner != dist::get_rank()) return right_overlap(out, in, partner, compute);
  in.copy_(out);
}

}  // namespace lab
