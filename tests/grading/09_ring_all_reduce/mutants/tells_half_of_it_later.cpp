// Misconception: a rank may have told the simulator of half of its additions when it sends their sums, and
// tell of the others where the ring has nothing to add.
//
// Killed by: Part4Pipelined.hides_the_adding
// Diagnosis: adds_unseen
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
  const std::int64_t most = (longest(ring) + m - 1) / m;
  Tensor inbox = dist::empty({most}, data.dtype()), other = dist::zeros_like(inbox);
  for (int turn = 0; turn < turns; ++turn) {
    Tensor mine = part(turn / m + 2, turn);
    const bool sums = turn < turns / 2;
    Tensor arriving = sums ? inbox.narrow(0, mine.numel()) : mine;
    Work arrival = dist::irecv(arriving, ring.before);
    Work leaving = dist::isend(part(turn / m + 1, turn), ring.next);
    if (!sums || turn % 2 == 1) add(other, other);
    arrival.wait();
    leaving.wait();
    if (sums) mine.add_(arriving);
  }
}

}  // namespace lab
