// Misconception: the partner is always another rank. "Every rank with its mirror, n - 1 - rank" pairs the
// middle rank of an odd world with itself.
//
// Killed by: Part2Exchange.with_itself
// Diagnosis: talks_to_itself
#include "mutant.h"
#define exchange right_exchange
#include DIST_SOLUTION
#undef exchange

namespace lab {

void exchange(const dist::Tensor& mine, dist::Tensor& theirs, int partner) {
  if (dist::get_rank() <= partner) {
    dist::send(mine, partner);
    dist::recv(theirs, partner);
  } else {
    right_exchange(mine, theirs, partner);
  }
}

}  // namespace lab
