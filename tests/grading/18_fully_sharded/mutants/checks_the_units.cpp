// Misconception: ranks whose parameters differ would train nonsense, so a unit is gathered once and compared
// when it is made.
//
// Killed by: Part2Unit.each_rank_keeps_its_rows
// Diagnosis: none
#include "mutant.h"
#define make_unit right_make_unit
#include DIST_SOLUTION
#undef make_unit

namespace lab {

Unit make_unit(const Tensors& parameters) {
  Unit unit = right_make_unit(parameters);
  Gather gather = start_gather(unit);
  finish_gather(unit, gather);
  return unit;
}

}  // namespace lab
