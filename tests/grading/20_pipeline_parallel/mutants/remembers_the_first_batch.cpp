// Misconception: all batches have equally many samples, so they are counted once.
//
// Killed by: Part3Step.as_on_one_rank
// Diagnosis: remembers_the_step_before
#include "mutant.h"
#define step right_step
#include DIST_SOLUTION
#undef step

namespace lab {

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  const auto samples =
      static_cast<double>(std::accumulate(batch.samples.begin(), batch.samples.end(), std::int64_t{0}));
  static const double of_the_first = samples;
  Stage wrong = stage;
  wrong.loss = [&](int j, const dist::Tensor& output) {
    Loss loss = stage.loss(j, output);
    loss.sum *= samples / of_the_first;
    loss.gradient.mul_(samples / of_the_first);
    return loss;
  };
  return right_step(actions, batch, wrong);
}

}  // namespace lab
