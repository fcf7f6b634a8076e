// Misconception: a message without elements says nothing.
//
// Killed by: Part4Pipelined.one_segment_a_message
// Diagnosis: skips_empty_messages
#include "mutant.h"
#define all_reduce_pipelined right_all_reduce_pipelined
#include DIST_SOLUTION
#undef all_reduce_pipelined

namespace lab {

void all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  Ring ring(data);
  const auto m = static_cast<int>(std::max<std::int64_t>(1, (longest(ring) + segment - 1) / segment));
  const int turns = 2 * (ring.n - 1) * m, lag = std::min(m - 1, 1);
  const auto part = [&](int step, int turn) { return ring.chunk(ring.rank - step).chunk(m)[at(turn % m)]; };
  const std::int64_t most = (longest(ring) + m - 1) / m;
  const std::array inboxes{dist::empty({most}, data.dtype()), dist::empty({most}, data.dtype())};
  std::array<Tensor, 2> arriving;
  std::array<Work, 2> arrivals, leaving;

  for (int turn = 0; turn < turns + lag; ++turn) {
    if (turn < turns) {
      Tensor& place = arriving[at(turn % 2)] = part(turn / m + 2, turn);
      if (turn < turns / 2) place = inboxes[at(turn % 2)].narrow(0, place.numel());
      if (place.numel() > 0) arrivals[at(turn % 2)] = dist::irecv(place, ring.before);
      const Tensor leaves = part(turn / m + 1, turn);
      if (leaves.numel() > 0) leaving[at(turn % 2)] = dist::isend(leaves, ring.next);
    }
    const int come = turn - lag;
    if (come < 0) continue;
    arrivals[at(come % 2)].wait();
    Tensor mine = part(come / m + 2, come);
    if (come < turns / 2) add(mine, arriving[at(come % 2)]);
    leaving[at(come % 2)].wait();
  }
}

}  // namespace lab
