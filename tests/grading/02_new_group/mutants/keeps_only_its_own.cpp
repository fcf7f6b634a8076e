// Misconception: a rank does not have to keep a group that it is not in; an empty handle means nothing.
//
// Killed by: Part1Halves.even_world
// Diagnosis: empty_handle
#include "mutant.h"
#define make_halves right_make_halves
#include DIST_SOLUTION
#undef make_halves

namespace lab {

Halves make_halves() {
  auto halves = right_make_halves();
  (halves.lower.is_member() ? halves.upper : halves.lower) = {};
  return halves;
}

}  // namespace lab
