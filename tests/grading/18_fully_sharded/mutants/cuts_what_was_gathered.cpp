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
  for (const dist::Shape& shape : unit.shapes) {
    const std::int64_t count = shape[0] * row_size(shape);
    parameters.push_back(gather.shards.narrow(at, count).clone().view(shape));
    at += count;
  }
  gather.shards = {};
  return parameters;
}

}  // namespace lab
