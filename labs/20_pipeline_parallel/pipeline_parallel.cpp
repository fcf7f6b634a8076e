// Lab 20: write these functions. README.md is the handout, pipeline_parallel.h is the
// specification.
//
//   ./distlab run 20      runs the demonstration with your code
//   ./distlab grade 20    tests your code
//   ./distlab hint 20     prints a hint
#include "pipeline_parallel.h"

#include "dist/core/todo.h"

namespace lab {

using dist::Tensor;

std::vector<int> cut(const std::vector<double>& costs, int stages) {
  // TODO: if you knew the best cut of the first k layers into s - 1 stages, for
  // every k, how would you find the best cut into s stages?
  DIST_TODO("lab 20, part 1: which layers are on which rank");
}

std::vector<Action> gpipe(int rank, int ranks, int micro_batches) {
  // TODO: two loops.
  DIST_TODO("lab 20, part 2: all forwards, then all backwards");
}

std::vector<Action> one_f_one_b(int rank, int ranks, int micro_batches) {
  // TODO: how many forwards come before the first backward? What if there are
  // fewer micro-batches than that?
  DIST_TODO("lab 20, part 2: one forward, one backward");
}

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  // TODO: which messages are between two computations? Make a list of dist::P2P.
  // TODO: by which number must the gradient of a micro-batch's loss be divided?
  DIST_TODO("lab 20, part 3: run the list");
}

}  // namespace lab
