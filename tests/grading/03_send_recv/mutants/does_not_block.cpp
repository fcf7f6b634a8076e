// Misconception: whatever ends without a deadlock is asked for. It does end, but how to order blocking calls
// is not learnt by avoiding them.
//
// Killed by: Part2Exchange.blocks_for_two_rounds
// Diagnosis: does_not_block
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
  auto sent = dist::isend(mine, partner);
  dist::recv(theirs, partner);
  sent.wait();
}

}  // namespace lab
