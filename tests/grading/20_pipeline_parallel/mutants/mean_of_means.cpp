// Misconception: each micro-batch has a mean loss, and the loss of the batch is the mean of these.
//
// Killed by: Part3Step.uneven_micro_batches
// Diagnosis: mean_of_means
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
    const double factor =
        samples / static_cast<double>(std::ssize(batch.samples) * batch.samples[static_cast<std::size_t>(j)]);
    loss.sum *= factor;
    loss.gradient.mul_(factor);
    return loss;
  };
  return right_step(actions, batch, wrong);
}

}  // namespace lab
