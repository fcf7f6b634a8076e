// Misconception: every rank needs the data of every other rank, so every rank sends to every other rank.
//
// Killed by: Part1AllGather.neighbours_only
// Diagnosis: everybody_to_everybody
#include "mutant.h"
#define all_gather right_all_gather
#include DIST_SOLUTION
#undef all_gather

namespace lab {

void all_gather(Tensor& all, const Tensor& mine) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const auto part = [&, k = mine.numel()](int owner) { return all.narrow(owner * k, k); };
  Tensor own = part(rank);
  if (own.raw() != mine.raw()) own.copy_(mine);
  for (int step = 1; step < n; ++step) {
    const int to = (rank + step) % n, from = (rank + n - step) % n;
    Tensor arriving = part(from);
    auto arrival = dist::irecv(arriving, from);
    dist::send(own, to);
    arrival.wait();
  }
}

}  // namespace lab
