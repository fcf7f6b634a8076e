// Misconception: a unit begins with a gradient like its shard, which the first backward replaces.
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
  unit.gradient = unit.shard.clone();
  return unit;
}

}  // namespace lab
