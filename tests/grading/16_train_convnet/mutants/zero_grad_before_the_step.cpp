// Misconception: gradients are cleared once backward has computed them. But the optimizer still has to use
// them.
//
// Killed by: Part1Step.gradients_of_this_batch_alone
// Diagnosis: zeroes_before_the_step
#include "mutant.h"
#define train_step right_train_step
#include DIST_SOLUTION
#undef train_step

namespace lab {

double train_step(nn::Module& model, nn::Optimizer& optimizer, const data::Batch& batch) {
  nn::CrossEntropyLoss loss;
  const double value = loss.forward(model.forward(batch.inputs.to(dist::get_device())), batch.targets);
  model.backward(loss.backward());
  optimizer.zero_grad();
  optimizer.step();
  return value;
}

}  // namespace lab
