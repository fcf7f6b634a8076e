// Misconception: all_gather is a gather to rank 0 and a broadcast. (The result is right.)
//
// Killed by: Part1AllGather.neighbours_only
// Diagnosis: gather_and_broadcast
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
  if (rank != 0) dist::send(own, 0);
  for (int other = 1; rank == 0 && other < n; ++other) {
    Tensor part = all.narrow(other * k, k);
    dist::recv(part, other);
  }
  if (rank != 0) dist::recv(all, 0);
  for (int other = 1; rank == 0 && other < n; ++other) dist::send(all, other);
}

}  // namespace lab
