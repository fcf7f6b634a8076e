// Misconception: a program trains once, so it sends the first weights once.
//
// Killed by: Part4Train.with_momentum
// Diagnosis: keeps_something
#include "mutant.h"
#define train right_train
#include DIST_SOLUTION
#undef train

namespace lab {

void train(Tensors& weights, int steps, const Trainer& trainer) {
  static bool is_first = true;
  if (is_first) broadcast_weights(weights);
  is_first = false;
  Tensors gradients = zeros_like(weights);
  for (int step = 0; step < steps; ++step) {
    average_over_samples(gradients, trainer.compute(step, weights, gradients));
    trainer.optimize(weights, gradients);
  }
}

}  // namespace lab
