// Misconception: the weights are needed where they are first used, in step 0. (There may be no step.)
//
// Killed by: Part4Train.with_momentum
// Diagnosis: no_first_broadcast
#include "mutant.h"
#define train right_train
#include DIST_SOLUTION
#undef train

namespace lab {

void train(Tensors& weights, int steps, const Trainer& trainer) {
  Tensors gradients = zeros_like(weights);
  for (int step = 0; step < steps; ++step) {
    if (step == 0) broadcast_weights(weights);
    const auto samples = trainer.compute(step, weights, gradients);
    average_over_samples(gradients, samples);
    trainer.optimize(weights, gradients);
  }
}

}  // namespace lab
