// Misconception: any program that ends without a deadlock solves the exercise. This one ends, but it avoids
// the blocking calls whose order is to be found.
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
