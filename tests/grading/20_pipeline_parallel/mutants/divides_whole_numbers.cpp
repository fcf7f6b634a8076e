// Misconception: one divided by the number of samples is a number like any other. (Both are integers.)
//
// Killed by: Part3Step.as_on_one_rank
// Diagnosis: divides_whole_numbers
#include "mutant.h"
#define step right_step
#include DIST_SOLUTION
#undef step

namespace lab {

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  const auto samples = std::accumulate(batch.samples.begin(), batch.samples.end(), std::int64_t{0});
  Stage wrong = stage;
  wrong.loss = [&](int j, const dist::Tensor& output) {
    Loss loss = stage.loss(j, output);
    const auto part = static_cast<double>(1 / samples);
    loss.sum *= part;
    loss.gradient.mul_(part);
    return loss;
  };
  return right_step(actions, batch, wrong);
}

}  // namespace lab
