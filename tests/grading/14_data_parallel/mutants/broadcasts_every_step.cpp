// Misconception: the weights drift apart unless they are sent in every step. (The numbers are right.)
//
// Killed by: Part4Train.gradients_alone_travel
// Diagnosis: broadcasts_every_step
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
    broadcast_weights(weights);
  }
}

}  // namespace lab
