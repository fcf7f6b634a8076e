// Misconception: in a ring only the rank before sends to a rank, so its number does not matter. (Another
// function of the program may follow.)
//
// Killed by: Part1AllGather.any_number_of_ranks
// Diagnosis: takes_any_message
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
    auto arrival = dist::irecv(arriving);
    dist::send(leaving, (rank + 1) % n);
    arrival.wait();
  }
}

}  // namespace lab
