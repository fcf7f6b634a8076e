// Lab 14: write these functions. README.md is the handout,
// data_parallel.h is the specification.
//
//   ./distlab run 14      runs the demonstration with your code
//   ./distlab grade 14    tests your code
//   ./distlab hint 14     prints a hint
#include "data_parallel.h"

#include "dist/core/todo.h"

namespace lab {

void broadcast_weights(Tensors& weights) {
  // TODO: all ranks must begin with the same weights.
  DIST_TODO("lab 14, part 1: the first weights");
}

void average_gradients(Tensors& gradients) {
  // TODO: the mean over the ranks, not their sum.
  DIST_TODO("lab 14, part 2: the mean over the ranks");
}

void average_over_samples(Tensors& gradients, std::int64_t samples) {
  // TODO: what must be summed over the ranks, so that one division is enough?
  // TODO: 0 times NaN is NaN.
  DIST_TODO("lab 14, part 3: the mean over all samples");
}

void train(Tensors& weights, int steps, const Trainer& trainer) {
  // TODO: what is averaged, before the optimizer or after it?
  DIST_TODO("lab 14, part 4: as one rank with the whole batch");
}

void train_with_server(Tensors& weights, int steps, const Trainer& trainer) {
  // TODO: there are two roles. What does the server do for itself, and what for
  // the workers?
  DIST_TODO("lab 14, part 5: one rank keeps the weights");
}

}  // namespace lab
