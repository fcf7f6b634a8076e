// Misconception: the gradient of a micro-batch is divided by the samples of this micro-batch.
//
// Killed by: Part3Step.as_on_one_rank
// Diagnosis: divides_by_its_own_samples
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
    loss.gradient.mul_(samples / static_cast<double>(batch.samples[static_cast<std::size_t>(j)]));
    return loss;
  };
  return right_step(actions, batch, wrong);
}

}  // namespace lab
