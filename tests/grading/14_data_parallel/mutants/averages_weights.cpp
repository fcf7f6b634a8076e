// Misconception: averaging weights gives the same result as averaging gradients. (It does for momentum, which
// is linear, but not for Adam.)
//
// Killed by: Part4Train.with_adam
// Diagnosis: averages_weights
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
    (void)samples;
    trainer.optimize(weights, gradients);
    average_gradients(weights);
  }
}

}  // namespace lab
