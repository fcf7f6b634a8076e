// Misconception: the pattern for two ranks, `if (rank == 0)`, works for every pair. In each pair without rank
// 0 both ranks receive first.
//
// Killed by: Part2Exchange.whoever_the_partners_are
// Diagnosis: only_rank_0_sends_first
#include "mutant.h"
#define exchange right_exchange
#include DIST_SOLUTION
#undef exchange

namespace lab {

void exchange(const dist::Tensor& mine, dist::Tensor& theirs, int partner) {
  if (partner == dist::get_rank()) {
    theirs.copy_(mine);
  } else if (dist::get_rank() == 0) {
    dist::send(mine, partner);
    dist::recv(theirs, partner);
  } else {
    dist::recv(theirs, partner);
    dist::send(mine, partner);
  }
}

}  // namespace lab
