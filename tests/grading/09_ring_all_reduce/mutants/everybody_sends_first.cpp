// Misconception: a rank may send first and receive afterwards, because the message is gone when send returns.
//
// Killed by: Part2AllGather.small_rings
// Diagnosis: everybody_sends_first
#include "mutant.h"
#define all_gather right_all_gather
#include DIST_SOLUTION
#undef all_gather

namespace lab {

void all_gather(Tensor& data) {
  Ring ring(data);
  for (int step = 0; step < ring.n - 1; ++step) {
    dist::send(ring.chunk(ring.rank - step), ring.next);
    dist::recv(ring.chunk(ring.rank - step - 1), ring.before);
  }
}

}  // namespace lab
