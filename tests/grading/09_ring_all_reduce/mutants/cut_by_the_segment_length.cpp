// Misconception: the segments of a chunk have `segment` elements each, and the last one the rest.
//
// Killed by: Part4Pipelined.one_segment_a_message
// Diagnosis: cut_by_the_segment_length
#include "mutant.h"
#define all_reduce_pipelined right_all_reduce_pipelined
#include DIST_SOLUTION
#undef all_reduce_pipelined

namespace lab {

void all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  Ring ring(data);
  const auto m = static_cast<int>(std::max<std::int64_t>(1, (longest(ring) + segment - 1) / segment));
  const int turns = 2 * (ring.n - 1) * m, lag = std::min(m - 1, 1);
  const auto part = [&](int step, int turn) {
    const Tensor chunk = ring.chunk(ring.rank - step);
    const std::int64_t first = std::min(segment * (turn % m), chunk.numel());
    return chunk.narrow(first, std::min(segment, chunk.numel() - first));
  };
  const std::int64_t most = std::min(segment, longest(ring));
  const std::array inboxes{dist::empty({most}, data.dtype()), dist::empty({most}, data.dtype())};
  std::array<Tensor, 2> arriving;
  std::array<Work, 2> arrivals, leaving;

  for (int turn = 0; turn < turns + lag; ++turn) {
    if (turn < turns) {
      Tensor& place = arriving[at(turn % 2)] = part(turn / m + 2, turn);
      if (turn < turns / 2) place = inboxes[at(turn % 2)].narrow(0, place.numel());
      arrivals[at(turn % 2)] = dist::irecv(place, ring.before);
      leaving[at(turn % 2)] = dist::isend(part(turn / m + 1, turn), ring.next);
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
