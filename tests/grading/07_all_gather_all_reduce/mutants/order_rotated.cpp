// Misconception: the first chunk of the output is mine, and the others follow in the order in which they
// arrive.
//
// Killed by: Part1AllGather.small_rings
// Diagnosis: order_rotated
#include "mutant.h"
#define all_gather right_all_gather
#include DIST_SOLUTION
#undef all_gather

namespace lab {

void all_gather(Tensor& all, const Tensor& mine) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const auto k = mine.numel();
  Tensor first = all.narrow(0, k);
  first.copy_(mine.clone());
  for (int step = 0; step < n - 1; ++step) {
    Tensor leaving = all.narrow(step * k, k), arriving = all.narrow((step + 1) * k, k);
    auto arrival = dist::irecv(arriving, (rank + n - 1) % n);
    dist::send(leaving, (rank + 1) % n);
    arrival.wait();
  }
}

}  // namespace lab
