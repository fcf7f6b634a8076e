// Misconception: all ranks have equally many samples, because the sampler makes it so. (In the last batch
// they do not.)
//
// Killed by: Part4Train.uneven_last_batch
// Diagnosis: mean_of_the_ranks_means
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
    if (samples == 0)
      for (Tensor& gradient : gradients) gradient.zero_();
    average_gradients(gradients);
    trainer.optimize(weights, gradients);
  }
}

}  // namespace lab
