// Misconception: the last step would bring my own chunk back, so it can be left out. (Step n would do so, not
// step n - 1.)
//
// Killed by: Part1AllGather.small_rings
// Diagnosis: one_step_short
#include "mutant.h"
#define all_gather right_all_gather
#include DIST_SOLUTION
#undef all_gather

namespace lab {

void all_gather(Tensor& all, const Tensor& mine) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const auto part = [&, k = mine.numel()](int owner) { return all.narrow((owner + n) % n * k, k); };
  Tensor own = part(rank);
  if (own.raw() != mine.raw()) own.copy_(mine);
  for (int step = 0; step < n - 1; ++step) {
    Tensor leaving = part(rank - step), arriving = part(rank - step - 1);
    if (step == n - 2) break;
    auto arrival = dist::irecv(arriving, (rank + n - 1) % n);
    dist::send(leaving, (rank + 1) % n);
    arrival.wait();
  }
}

}  // namespace lab
