// Misconception: a rank may send first and receive afterwards, because the message is gone when send returns.
//
// Killed by: Part1AllGather.small_rings
// Diagnosis: everybody_sends_first
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
    dist::send(leaving, (rank + 1) % n);
    dist::recv(arriving, (rank + n - 1) % n);
  }
}

}  // namespace lab
