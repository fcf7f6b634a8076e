// Misconception: a step runs all forwards, then all backwards, whatever the list says.
//
// Killed by: Part3Step.both_directions_at_once
// Diagnosis: ignores_the_list
#include "mutant.h"
#define step right_step
#include DIST_SOLUTION
#undef step

namespace lab {

double step(const std::vector<Action>&, const Batch& batch, const Stage& stage) {
  const auto m = static_cast<int>(batch.samples.size());
  return right_step(gpipe(dist::get_rank(), dist::get_world_size(), m), batch, stage);
}

}  // namespace lab
