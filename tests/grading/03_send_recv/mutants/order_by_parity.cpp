// Misconception: even ranks send first and odd ranks receive first, so two partners never do the same. Two
// even partners do.
//
// Killed by: Part2Exchange.whoever_the_partners_are
// Diagnosis: order_by_parity
#include "mutant.h"
#define exchange right_exchange
#include DIST_SOLUTION
#undef exchange

namespace lab {

void exchange(const dist::Tensor& mine, dist::Tensor& theirs, int partner) {
  if (partner == dist::get_rank()) {
    theirs.copy_(mine);
  } else if (dist::get_rank() % 2 == 0) {
    dist::send(mine, partner);
    dist::recv(theirs, partner);
  } else {
    dist::recv(theirs, partner);
    dist::send(mine, partner);
  }
}

}  // namespace lab
