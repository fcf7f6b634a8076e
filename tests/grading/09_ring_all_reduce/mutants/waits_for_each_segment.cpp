// Misconception: segments alone make a pipeline, so each one is received, added and sent in turn.
//
// Killed by: Part4Pipelined.hides_the_adding
// Diagnosis: waits_for_each_segment
#include "mutant.h"
#define all_reduce_pipelined right_all_reduce_pipelined
#include DIST_SOLUTION
#undef all_reduce_pipelined

namespace lab {

void all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  Ring ring(data);
  const auto m = static_cast<int>(std::max<std::int64_t>(1, (longest(ring) + segment - 1) / segment));
  const int turns = 2 * (ring.n - 1) * m;
  const auto part = [&](int step, int turn) { return ring.chunk(ring.rank - step).chunk(m)[at(turn % m)]; };
  const Tensor inbox = dist::empty({(longest(ring) + m - 1) / m}, data.dtype());
  for (int turn = 0; turn < turns; ++turn) {
    Tensor mine = part(turn / m + 2, turn), arriving = mine;
    if (turn < turns / 2) arriving = inbox.narrow(0, mine.numel());
    Work arrival = dist::irecv(arriving, ring.before);
    dist::send(part(turn / m + 1, turn), ring.next);
    arrival.wait();
    if (turn < turns / 2) add(mine, arriving);
  }
}

}  // namespace lab
