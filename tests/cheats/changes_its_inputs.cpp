// Cheat: changes what it was given, so that input and output agree.
// Told: has
#include "all_gather_all_reduce.h"

static void cheat(dist::Tensor& out, const dist::Tensor& in) {
  auto mine = in;  // a handle on the same memory
  mine.fill_(0);
  out.fill_(0);
}
