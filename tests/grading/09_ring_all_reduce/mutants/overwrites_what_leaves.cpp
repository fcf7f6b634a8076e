// Misconception: "in place" means that a chunk may arrive where the chunk that is being sent is.
//
// Killed by: Part2AllGather.small_rings
// Diagnosis: overwrites_what_leaves
#include "mutant.h"
#define all_gather right_all_gather
#include DIST_SOLUTION
#undef all_gather

namespace lab {

void all_gather(Tensor& data) {
  Ring ring(data);
  for (int step = 0; step < ring.n - 1; ++step) {
    Tensor& place = ring.chunk(ring.rank - step);
    Tensor leaving = place.narrow(0, ring.chunks[0].numel());
    Tensor arriving = place.narrow(0, ring.chunks[0].numel());
    Work arrival = dist::irecv(arriving, ring.before);
    dist::send(leaving, ring.next);
    arrival.wait();
  }
}

}  // namespace lab
