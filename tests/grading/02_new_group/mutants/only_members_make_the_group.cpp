// Misconception: a group is created by its members.
//
// Killed by: Part1Halves.even_world
// Diagnosis: groups_made_differently
#include "mutant.h"
#define make_halves right_make_halves
#include DIST_SOLUTION
#undef make_halves

namespace lab {

Halves make_halves() {
  const int n = dist::get_world_size(), lower = n - n / 2;
  Halves halves;
  if (dist::get_rank() < lower)
    halves.lower = dist::new_group(ranks_from(0, lower));
  else
    halves.upper = dist::new_group(ranks_from(lower, n - lower));
  return halves;
}

}  // namespace lab
