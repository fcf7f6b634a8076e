// Lab 14: write these functions. README.md tells the story, data_parallel.h is
// the contract.
//
//   ./distlab run 14      see what your code does
//   ./distlab grade 14    is it right, and if not, why?
//   ./distlab hint 14     a nudge
#include "data_parallel.h"

#include "dist/core/todo.h"

namespace lab {

void broadcast_weights(Tensors& weights) {
  // TODO: a rank that begins elsewhere never comes to where the others are.
  DIST_TODO("lab 14, part 1: the first weights");
}

void average_gradients(Tensors& gradients) {
  // TODO: the mean over the ranks, not their sum.
  DIST_TODO("lab 14, part 2: the mean over the ranks");
}

void average_over_samples(Tensors& gradients, std::int64_t samples) {
  // TODO: what must be summed over the ranks, so that one division is left?
  // TODO: 0 times NaN is NaN.
  DIST_TODO("lab 14, part 3: the mean over all samples");
}

void train(Tensors& weights, int steps, const Trainer& trainer) {
  // TODO: what is averaged, and before or after the optimizer?
  DIST_TODO("lab 14, part 4: as one rank with the whole batch");
}

void train_with_server(Tensors& weights, int steps, const Trainer& trainer) {
  // TODO: two roles. What does the server do for itself, what for the others?
  DIST_TODO("lab 14, part 5: one rank holds the truth");
}

}  // namespace lab
