// Lab 07: write these functions. README.md tells the story,
// all_gather_all_reduce.h is the contract.
//
//   ./distlab run 7      see what your code does
//   ./distlab grade 7    is it right, and if not, why?
//   ./distlab hint 7     a nudge
#include "all_gather_all_reduce.h"

#include "dist/core/fail.h"
#include "dist/core/todo.h"

namespace lab {

using dist::Tensor;

// Useful in all parts: dist::get_rank(), dist::get_world_size().

void all_gather(Tensor& all, const Tensor& mine) {
  // TODO: my own part goes to its place in `all` (all.narrow(start, length)
  // shares the memory).
  // TODO: n - 1 steps: which part do I send to the next rank, which one comes
  // from the rank before?
  // TODO: everybody sends at the same time, and a send may wait for its
  // receiver.
  DIST_TODO("lab 07, part 1: pass the parts around the ring");
}

void all_reduce_sum(Tensor& data) {
  // TODO: up the tree: from whom do I get partial sums, and to whom do I send
  // mine? Receive them into what?
  // TODO: down the tree: rank 0's sum to everybody.
  DIST_TODO("lab 07, part 2: reduce to rank 0, then broadcast from it");
}

void all_reduce_avg(Tensor& data) {
  // TODO: refuse what has no mean (dist::is_floating_point; dist::fail), before
  // anything moves.
  // TODO: the sum, divided. How often, and where?
  DIST_TODO("lab 07, part 3: the mean over all ranks");
}

double global_accuracy(std::int64_t correct, std::int64_t seen) {
  // TODO: which two numbers may be summed over the ranks? In which dtype?
  // TODO: who may decide that there is nothing to divide by, and when?
  DIST_TODO("lab 07, part 4: the share of right answers over all shards");
}

}  // namespace lab
