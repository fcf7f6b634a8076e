// Misconception: n is twice n / 2.
//
// Killed by: Part1Halves.odd_world
// Diagnosis: last_rank_in_no_half
#include "mutant.h"
#define make_halves right_make_halves
#include DIST_SOLUTION
#undef make_halves

namespace lab {

Halves make_halves() {
  const int half = dist::get_world_size() / 2;
  Halves halves;
  halves.lower = dist::new_group(ranks_from(0, half));
  halves.upper = dist::new_group(ranks_from(half, half));
  return halves;
}

}  // namespace lab
