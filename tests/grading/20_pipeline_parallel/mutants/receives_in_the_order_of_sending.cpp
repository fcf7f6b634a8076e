// Misconception: a rank sends its result, then receives what it needs next; every send has its receive, so
// nothing can go wrong.
//
// Killed by: Part3Step.both_directions_at_once
// Diagnosis: sends_before_it_receives
#include "mutant.h"
#define step right_step
#include DIST_SOLUTION
#undef step

namespace lab {

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  return run_list(
      actions, batch, stage, [](const dist::Tensor& t, int peer, Kind) { dist::send(t, peer); },
      [](dist::Tensor& t, int peer, Kind) { dist::recv(t, peer); });
}

}  // namespace lab
