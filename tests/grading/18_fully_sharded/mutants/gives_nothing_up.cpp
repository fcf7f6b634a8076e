// Misconception: what was gathered may stay where it is: it is in the way of nothing.
//
// Killed by: Part2Unit.a_gather_gives_the_parameters
// Diagnosis: keeps_the_shards
#include "mutant.h"
#define finish_gather right_finish_gather
#include DIST_SOLUTION
#undef finish_gather

namespace lab {

Tensors finish_gather(const Unit& unit, Gather& gather) {
  const Tensor kept = gather.shards;
  Tensors parameters = right_finish_gather(unit, gather);
  gather.shards = kept;
  return parameters;
}

}  // namespace lab
