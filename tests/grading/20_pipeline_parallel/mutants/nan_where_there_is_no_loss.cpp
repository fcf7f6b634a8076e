// Misconception: a rank that has no loss returns NaN, so that it is not taken for one.
//
// Killed by: Part3Step.as_on_one_rank
// Diagnosis: none
#include "mutant.h"
#define step right_step
#include DIST_SOLUTION
#undef step

namespace lab {

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  const double loss = right_step(actions, batch, stage);
  return stage.loss ? loss : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace lab
