// Misconception: my own chunk reaches me through the ring, like all other chunks.
//
// Killed by: Part1AllGather.small_rings
// Diagnosis: own_part_missing
#include "mutant.h"
#define all_gather right_all_gather
#include DIST_SOLUTION
#undef all_gather

namespace lab {

void all_gather(Tensor& all, const Tensor& mine) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const auto part = [&, k = mine.numel()](int owner) { return all.narrow((owner + n) % n * k, k); };
  for (int step = 0; step < n - 1; ++step) {
    Tensor leaving = step == 0 ? mine : part(rank - step), arriving = part(rank - step - 1);
    auto arrival = dist::irecv(arriving, (rank + n - 1) % n);
    dist::send(leaving, (rank + 1) % n);
    arrival.wait();
  }
}

}  // namespace lab
