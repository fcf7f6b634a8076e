// Misconception: the loader gives batches where they are needed.
//
// Killed by: Part1Step.gradients_of_this_batch_alone
// Diagnosis: not_on_the_device
#include "mutant.h"
#define train_step right_train_step
#include DIST_SOLUTION
#undef train_step

namespace lab {

double train_step(nn::Module& model, nn::Optimizer& optimizer, const data::Batch& batch) {
  nn::CrossEntropyLoss loss;
  const double value = loss.forward(model.forward(batch.inputs), batch.targets);
  optimizer.zero_grad();
  model.backward(loss.backward());
  optimizer.step();
  return value;
}

}  // namespace lab
