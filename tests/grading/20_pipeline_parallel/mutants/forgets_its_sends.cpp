// Misconception: a send that was started takes care of itself.
//
// Killed by: Part3Step.as_on_one_rank
// Diagnosis: forgets_a_wait
#include "mutant.h"
#define step right_step
#include DIST_SOLUTION
#undef step

namespace lab {

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  return run_list(
      actions, batch, stage, [](const dist::Tensor& t, int peer, Kind) { dist::isend(t, peer); },
      [](dist::Tensor& t, int peer, Kind) { dist::recv(t, peer); });
}

}  // namespace lab
