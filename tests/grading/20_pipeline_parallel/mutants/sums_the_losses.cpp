// Misconception: gradients of micro-batches add up, so nothing has to be divided.
//
// Killed by: Part3Step.as_on_one_rank
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
    const double factor = samples;
    loss.sum *= factor;
    loss.gradient.mul_(factor);
    return loss;
  };
  return right_step(actions, batch, wrong);
}

}  // namespace lab
