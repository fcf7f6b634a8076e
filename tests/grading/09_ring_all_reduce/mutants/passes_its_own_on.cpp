// Misconception: every rank needs my chunk, so I send it in every step.
//
// Killed by: Part2AllGather.small_rings
// Diagnosis: passes_its_own_on
#include "mutant.h"
#define all_gather right_all_gather
#include DIST_SOLUTION
#undef all_gather

namespace lab {

void all_gather(Tensor& data) {
  Ring ring(data);
  for (int step = 0; step < ring.n - 1; ++step) {
    Work arrival = dist::irecv(ring.chunk(ring.rank - step - 1), ring.before);
    dist::send(ring.chunk(ring.rank), ring.next);
    arrival.wait();
  }
}

}  // namespace lab
