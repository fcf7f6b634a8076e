// Lab 06: write these functions. README.md is the handout,
// scatter_gather.h is the specification.
//
//   ./distlab run 6      runs the demonstration with your code
//   ./distlab grade 6    tests your code
//   ./distlab hint 6     prints a hint
#include "scatter_gather.h"

#include "dist/core/todo.h"

namespace lab {

using dist::Tensor;

// Useful in all parts: my rank is dist::get_rank(), n is dist::get_world_size(),
// and   dist::send(t, peer);    dist::recv(t, peer);

void scatter(Tensor& mine, const std::vector<Tensor>& list, int root) {
  // TODO: the root sends every other rank its chunk. What does it do with its
  // own?
  // TODO: every other rank receives one chunk. Into which tensor?
  DIST_TODO("lab 06, part 1: the root distributes the list");
}

void gather(const Tensor& mine, std::vector<Tensor>& list, int root) {
  // TODO: the root receives from every other rank, into that rank's tensor.
  // TODO: every other rank sends.
  DIST_TODO("lab 06, part 2: the root collects the list");
}

Tensor scatter_rows(const Tensor& all, std::int64_t columns, int root) {
  // TODO: which is the first row of a rank, and how many rows does it get? (One
  // function for all ranks.)
  // TODO: the root sends the number of rows, then the rows.
  // TODO: every other rank receives the number, makes a tensor of the right
  // size, and receives its rows.
  DIST_TODO("lab 06, part 3: an uneven number of rows");
}

void tree_scatter(Tensor& mine, const Tensor& all, int root) {
  // TODO: number the ranks from the root on. Which rank is my parent? How many
  // ranks are in my subtree?
  // TODO: receive the chunks of the whole subtree. (The root has them already,
  // but in which order?)
  // TODO: send each child the chunks of its subtree. Which child first? Keep my
  // own chunk.
  DIST_TODO("lab 06, part 4: along the binomial tree");
}

}  // namespace lab
