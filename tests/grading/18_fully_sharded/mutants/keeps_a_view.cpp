// Misconception: where a rank's rows are in one piece already, a view of them is a shard.
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
  const Tensor& only = parameters.front();
  const Rows own = rows_of(only.size(0), dist::get_rank(), dist::get_world_size());
  if (parameters.size() == 1 && own.count * dist::get_world_size() == only.size(0))
    unit.shard = flat(only.narrow(own.first, own.count));
  return unit;
}

}  // namespace lab
