// Misconception: only the rank before sends to a rank, so its number does not matter.
//
// Killed by: Part2AllGather.any_number_of_ranks
// Diagnosis: takes_any_message
#include "mutant.h"
#define all_gather right_all_gather
#include DIST_SOLUTION
#undef all_gather

namespace lab {

void all_gather(Tensor& data) {
  Ring ring(data);
  for (int step = 0; step < ring.n - 1; ++step) {
    Work arrival = dist::irecv(ring.chunk(ring.rank - step - 1));
    dist::send(ring.chunk(ring.rank - step), ring.next);
    arrival.wait();
  }
}

}  // namespace lab
