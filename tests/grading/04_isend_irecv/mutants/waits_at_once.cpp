// Misconception: the wait for a Work comes directly after the call that returned it.
//
// Killed by: Part2Overlap.hides_the_transfer
// Diagnosis: waits_at_once
#include "mutant.h"
#define overlap right_overlap
#include DIST_SOLUTION
#undef overlap

namespace lab {

void overlap(const Tensor& out, Tensor& in, int partner, const std::function<void()>& compute) {
  Work coming = dist::irecv(in, partner);
  Work going = dist::isend(out, partner);
  coming.wait();
  going.wait();
  compute();
}

}  // namespace lab
