// Misconception: send returns as soon as the data is on its way, so both ranks may send and then receive. A
// blocking send may wait until the partner receives.
//
// Killed by: Part2Exchange.two_ranks_swap
// Diagnosis: both_send_first
#include "mutant.h"
#define exchange right_exchange
#include DIST_SOLUTION
#undef exchange

namespace lab {

void exchange(const dist::Tensor& mine, dist::Tensor& theirs, int partner) {
  if (partner == dist::get_rank()) {
    theirs.copy_(mine);
    return;
  }
  dist::send(mine, partner);
  dist::recv(theirs, partner);
}

}  // namespace lab
