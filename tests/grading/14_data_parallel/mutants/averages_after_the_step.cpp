// Misconception: it does not matter when the gradients are averaged.
//
// Killed by: Part4Train.with_momentum
// Diagnosis: trains_alone
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
    trainer.optimize(weights, gradients);
    average_over_samples(gradients, samples);
  }
}

}  // namespace lab
