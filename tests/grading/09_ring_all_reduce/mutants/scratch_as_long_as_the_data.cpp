// Misconception: arriving data needs memory, so the program allocates empty_like(data). (A ring does not need
// so much.)
//
// Killed by: Part1ReduceScatter.one_chunk_of_scratch
// Diagnosis: scratch_as_long_as_the_data
#include "mutant.h"
#define reduce_scatter right_reduce_scatter
#include DIST_SOLUTION
#undef reduce_scatter

namespace lab {

void reduce_scatter(Tensor& data) {
  Ring ring(data), inboxes(dist::empty_like(data));
  for (int step = 0; step < ring.n - 1; ++step) {
    Tensor& arriving = inboxes.chunk(ring.rank - step - 2);
    Work arrival = dist::irecv(arriving, ring.before);
    dist::send(ring.chunk(ring.rank - step - 1), ring.next);
    arrival.wait();
    add(ring.chunk(ring.rank - step - 2), arriving);
  }
}

}  // namespace lab
