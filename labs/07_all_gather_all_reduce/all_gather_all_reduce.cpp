// Lab 07: write these functions. README.md is the handout,
// all_gather_all_reduce.h is the specification.
//
//   ./distlab run 7      runs the demonstration with your code
//   ./distlab grade 7    tests your code
//   ./distlab hint 7     prints a hint
#include "all_gather_all_reduce.h"

#include "dist/core/fail.h"
#include "dist/core/todo.h"

namespace lab {

using dist::Tensor;

// Useful in all parts: dist::get_rank(), dist::get_world_size().

void all_gather(Tensor& all, const Tensor& mine) {
  // TODO: copy my own chunk to its place in `all` (all.narrow(start, length)
  // shares the memory).
  // TODO: n - 1 steps: which chunk do I send to the next rank, and which one
  // arrives from the rank before?
  // TODO: all ranks send at the same time, and a send may wait for its
  // receiver.
  DIST_TODO("lab 07, part 1: pass the chunks around the ring");
}

void all_reduce_sum(Tensor& data) {
  // TODO: up the tree: which ranks send me partial sums, and to which rank do I
  // send mine? Into which tensor do I receive?
  // TODO: down the tree: send rank 0's sum to all ranks.
  DIST_TODO("lab 07, part 2: reduce to rank 0, then broadcast from it");
}

void all_reduce_avg(Tensor& data) {
  // TODO: reject other dtypes (dist::is_floating_point, dist::fail), before
  // anything is sent.
  // TODO: divide the sum. How often, and on which ranks?
  DIST_TODO("lab 07, part 3: the mean over all ranks");
}

double global_accuracy(std::int64_t correct, std::int64_t seen) {
  // TODO: which two numbers may be summed over the ranks? In which dtype?
  // TODO: when do the ranks know that there is nothing to divide by?
  DIST_TODO("lab 07, part 4: the fraction of right answers over all shards");
}

}  // namespace lab
