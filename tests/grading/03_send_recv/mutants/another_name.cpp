// Misconception: `theirs = mine` copies the elements. It makes `theirs` another name for the same memory, as
// in Python.
//
// Killed by: Part2Exchange.with_itself
// Diagnosis: another_name
#include "mutant.h"
#define exchange right_exchange
#include DIST_SOLUTION
#undef exchange

namespace lab {

void exchange(const dist::Tensor& mine, dist::Tensor& theirs, int partner) {
  if (partner == dist::get_rank())
    theirs = mine;
  else
    right_exchange(mine, theirs, partner);
}

}  // namespace lab
