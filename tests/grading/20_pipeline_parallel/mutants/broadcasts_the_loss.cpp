// Misconception: every rank must print the loss, so the last rank broadcasts it.
//
// Killed by: Part3Step.as_on_one_rank
// Diagnosis: none
#include "mutant.h"
#define step right_step
#include DIST_SOLUTION
#undef step

namespace lab {

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  Tensor loss = dist::tensor({right_step(actions, batch, stage)});
  dist::broadcast(loss, dist::get_world_size() - 1);
  return dist::get_rank() + 1 == dist::get_world_size() ? loss.item<double>() : 0;
}

}  // namespace lab
