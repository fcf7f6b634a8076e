// Misconception: the loss of a step is that of the new weights.
//
// Killed by: Part1Step.its_loss
// Diagnosis: none
#include "mutant.h"
#define train_step right_train_step
#include DIST_SOLUTION
#undef train_step

namespace lab {

double train_step(nn::Module& model, nn::Optimizer& optimizer, const data::Batch& batch) {
  right_train_step(model, optimizer, batch);
  nn::CrossEntropyLoss loss;
  return loss.forward(model.forward(batch.inputs.to(dist::get_device())), batch.targets);
}

}  // namespace lab
