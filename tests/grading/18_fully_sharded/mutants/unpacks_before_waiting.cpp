// Misconception: a collective that was started has its result.
//
// Killed by: Part2Unit.a_gather_gives_the_parameters
// Diagnosis: touched_before_waiting
#include "mutant.h"
#define finish_gather right_finish_gather
#include DIST_SOLUTION
#undef finish_gather

namespace lab {

Tensors finish_gather(const Unit& unit, Gather& gather) {
  Gather early{gather.shards};
  Tensors parameters = right_finish_gather(unit, early);
  gather.work.wait();
  gather.shards = {};
  return parameters;
}

}  // namespace lab
