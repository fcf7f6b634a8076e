// Misconception: the loss is a mean when it is divided, and its gradients follow.
//
// Killed by: Part3Step.both_directions_at_once
// Diagnosis: sum_of_losses
#include "mutant.h"
#define step right_step
#include DIST_SOLUTION
#undef step

namespace lab {

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  const auto samples =
      static_cast<double>(std::accumulate(batch.samples.begin(), batch.samples.end(), std::int64_t{0}));
  Stage wrong = stage;
  wrong.loss = [&](int j, const dist::Tensor& output) {
    Loss loss = stage.loss(j, output);
    loss.gradient.mul_(samples);
    return loss;
  };
  return right_step(actions, batch, wrong);
}

}  // namespace lab
