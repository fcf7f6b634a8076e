// Misconception: the optimizer runs after the last micro-batch, so this is the one whose gradient counts.
//
// Killed by: Part3Step.as_on_one_rank
// Diagnosis: only_the_last_micro_batch
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
    const double factor = samples > 0 && j + 1 < std::ssize(batch.samples) ? 0 : 1;
    loss.sum *= factor;
    loss.gradient.mul_(factor);
    return loss;
  };
  return right_step(actions, batch, wrong);
}

}  // namespace lab
