// Misconception: the gradients of the losses are used in the order in which they were computed. (The list may
// say otherwise.)
//
// Killed by: Part3Step.any_list
// Diagnosis: none
#include <deque>

#include "mutant.h"
#define step right_step
#include DIST_SOLUTION
#undef step

namespace lab {

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  std::deque<Tensor> gradients;
  Stage queued = stage;
  if (stage.loss) {
    queued.loss = [&](int j, const Tensor& output) {
      Loss loss = stage.loss(j, output);
      gradients.push_back(loss.gradient);
      return loss;
    };
    queued.backward = [&](int j, const Tensor&) {
      const Tensor first = gradients.front();
      gradients.pop_front();
      return stage.backward(j, first);
    };
  }
  return right_step(actions, batch, queued);
}

}  // namespace lab
