// Misconception: to be safe, the weights are averaged as well. (The numbers are right.)
//
// Killed by: Part4Train.gradients_alone_travel
// Diagnosis: averages_weights_too
#include "mutant.h"
#define train right_train
#include DIST_SOLUTION
#undef train

namespace lab {

void train(Tensors& weights, int steps, const Trainer& trainer) {
  broadcast_weights(weights);
  Tensors gradients = zeros_like(weights);
  for (int step = 0; step < steps; ++step) {
    const auto samples = trainer.compute(step, weights, gradients);
    average_over_samples(gradients, samples);
    trainer.optimize(weights, gradients);
    average_gradients(weights);
  }
}

}  // namespace lab
