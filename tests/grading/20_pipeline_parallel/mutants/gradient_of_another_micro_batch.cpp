// Misconception: what is sent is the gradient of the micro-batch that is behind in the pipeline.
//
// Killed by: Part3Step.as_on_one_rank
// Diagnosis: gradient_of_another_micro_batch
#include "mutant.h"
#define step right_step
#include DIST_SOLUTION
#undef step

namespace lab {

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  Stage wrong = stage;
  dist::Tensor before;
  wrong.backward = [&](int j, const dist::Tensor& gradient) {
    const dist::Tensor now = stage.backward(j, gradient);
    const dist::Tensor sent = before.is_defined() ? before : now;
    before = now;
    return sent;
  };
  return right_step(actions, batch, wrong);
}

}  // namespace lab
