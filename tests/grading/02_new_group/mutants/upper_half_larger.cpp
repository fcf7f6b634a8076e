// Misconception: n / 2 is half of n, whatever n is.
//
// Killed by: Part1Halves.odd_world
// Diagnosis: upper_half_larger
#include "mutant.h"
#define make_halves right_make_halves
#include DIST_SOLUTION
#undef make_halves

namespace lab {

Halves make_halves() {
  const int n = dist::get_world_size(), lower = n / 2;
  Halves halves;
  halves.lower = dist::new_group(ranks_from(0, lower));
  halves.upper = dist::new_group(ranks_from(lower, n - lower));
  return halves;
}

}  // namespace lab
