// Misconception: what is gathered is the parameters, one after the other.
//
// Killed by: Part2Unit.a_gather_gives_the_parameters
// Diagnosis: shards_are_not_parameters
#include "mutant.h"
#define finish_gather right_finish_gather
#include DIST_SOLUTION
#undef finish_gather

namespace lab {

Tensors finish_gather(const Unit& unit, Gather& gather) {
  gather.work.wait();
  Tensors parameters;
  std::int64_t at = 0;
  for (const Shape& shape : unit.shapes) {
    parameters.push_back(gather.shards.narrow(at, product(shape)).clone().view(shape));
    at += product(shape);
  }
  gather.shards = {};
  return parameters;
}

}  // namespace lab
