// Cheat: never returns.
// Told: rank
#include "all_gather_all_reduce.h"

static void cheat(dist::Tensor&, const dist::Tensor&) {
  for (volatile bool forever = true; forever;) {
  }
}
