// Misconception: sending the whole output around the ring is safe, because nothing can be forgotten.
//
// Killed by: Part1AllGather.neighbours_only
// Diagnosis: sends_all_of_it
#include "mutant.h"
#define all_gather right_all_gather
#include DIST_SOLUTION
#undef all_gather

namespace lab {

void all_gather(Tensor& all, const Tensor& mine) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const auto k = mine.numel();
  Tensor own = all.narrow(rank * k, k);
  if (own.raw() != mine.raw()) own.copy_(mine);
  Tensor received = dist::empty_like(all);
  for (int step = 0; step < n - 1; ++step) {
    auto arrival = dist::irecv(received, (rank + n - 1) % n);
    dist::send(all, (rank + 1) % n);
    arrival.wait();
    const int owner = (rank - step - 1 + n) % n;
    Tensor part = all.narrow(owner * k, k);
    part.copy_(received.narrow(owner * k, k));
  }
}

}  // namespace lab
