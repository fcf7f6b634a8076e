// Misconception: even ranks send first and odd ranks receive first, and no time is lost by it.
//
// Killed by: Part1AllGather.n_minus_1_rounds
// Diagnosis: sends_and_receives_in_turns
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
    const int next = (rank + 1) % n, before = (rank + n - 1) % n;
    if (rank % 2 == 0) dist::send(leaving, next);
    dist::recv(arriving, before);
    if (rank % 2 == 1) dist::send(leaving, next);
  }
}

}  // namespace lab
