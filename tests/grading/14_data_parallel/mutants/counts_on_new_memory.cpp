// Misconception: 0 times anything is 0, so gradients of no samples need no zeros.
//
// Killed by: Part4Train.uneven_last_batch
// Diagnosis: counts_on_new_memory
#include "mutant.h"
#define train right_train
#include DIST_SOLUTION
#undef train

namespace lab {

void train(Tensors& weights, int steps, const Trainer& trainer) {
  broadcast_weights(weights);
  for (int step = 0; step < steps; ++step) {
    Tensors gradients;
    for (const Tensor& weight : weights) gradients.push_back(dist::empty(weight.shape(), weight.dtype()));
    const auto samples = trainer.compute(step, weights, gradients);
    for (Tensor& gradient : gradients) gradient.mul_(static_cast<double>(samples));
    Tensor count = dist::tensor({static_cast<double>(samples)});
    dist::all_reduce(count);
    for (Tensor& gradient : gradients) dist::all_reduce(gradient);
    divide(gradients, count.item<double>());
    trainer.optimize(weights, gradients);
  }
}

}  // namespace lab
