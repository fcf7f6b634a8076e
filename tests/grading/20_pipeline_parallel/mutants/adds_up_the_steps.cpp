// Misconception: a program runs one step.
//
// Killed by: Part3Step.as_on_one_rank
// Diagnosis: remembers_the_step_before
#include "mutant.h"
#define step right_step
#include DIST_SOLUTION
#undef step

namespace lab {

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  static double loss = 0;
  loss += right_step(actions, batch, stage);
  return loss;
}

}  // namespace lab
