// Misconception: only the root needs the sum, so every rank sends to the root. (The result is right.)
//
// Killed by: Part2Reduce.once_up_each_link
// Diagnosis: root_serves_everybody
#include "mutant.h"
#define reduce_to_root right_reduce_to_root
#include DIST_SOLUTION
#undef reduce_to_root

namespace lab {

void reduce_to_root(Tensor& data) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  Tensor inbox = dist::empty_like(data);
  for (int other = 1; rank == 0 && other < n; ++other) {
    dist::recv(inbox, other);
    add(data, inbox);
  }
  if (rank > 0) dist::send(data, 0);
}

}  // namespace lab
