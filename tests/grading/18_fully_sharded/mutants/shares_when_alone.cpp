// Misconception: one rank has all rows, so nothing has to be copied.
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
  if (dist::get_world_size() == 1 && parameters.size() == 1) unit.shard = flat(parameters[0]);
  return unit;
}

}  // namespace lab
