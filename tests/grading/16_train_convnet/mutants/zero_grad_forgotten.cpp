// Misconception: backward overwrites the gradients. It adds to what is there.
//
// Killed by: Part1Step.gradients_of_this_batch_alone
// Diagnosis: adds_to_old_gradients
#include "mutant.h"
#define train_step right_train_step
#include DIST_SOLUTION
#undef train_step

namespace lab {

double train_step(nn::Module& model, nn::Optimizer& optimizer, const data::Batch& batch) {
  nn::CrossEntropyLoss loss;
  const double value = loss.forward(model.forward(batch.inputs.to(dist::get_device())), batch.targets);
  model.backward(loss.backward());
  optimizer.step();
  return value;
}

}  // namespace lab
