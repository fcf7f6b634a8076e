// Misconception: a chunk without elements need not be sent.
//
// Killed by: Part2AllGather.one_chunk_a_step
// Diagnosis: skips_empty_messages
#include "mutant.h"
#define all_gather right_all_gather
#include DIST_SOLUTION
#undef all_gather

namespace lab {

void all_gather(Tensor& data) {
  Ring ring(data);
  for (int step = 0; step < ring.n - 1; ++step) {
    Tensor &leaving = ring.chunk(ring.rank - step), &arriving = ring.chunk(ring.rank - step - 1);
    Work arrival;
    if (arriving.numel() > 0) arrival = dist::irecv(arriving, ring.before);
    if (leaving.numel() > 0) dist::send(leaving, ring.next);
    arrival.wait();
  }
}

}  // namespace lab
