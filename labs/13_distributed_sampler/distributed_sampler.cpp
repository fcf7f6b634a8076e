// Lab 13: write these functions. README.md tells the story,
// distributed_sampler.h is the contract.
//
//   ./distlab run 13      see what your code does
//   ./distlab grade 13    is it right, and if not, why?
//   ./distlab hint 13     a nudge
#include "distributed_sampler.h"

#include <random>

#include "dist/core/todo.h"
#include "dist/dist.h"

namespace lab {

std::vector<std::int64_t> randperm(std::int64_t n, std::uint64_t seed) {
  // TODO: 0, 1, ..., n - 1, then n - 1 draws, each of which changes two places.
  // TODO: draw with generator() and %; std::shuffle has an order of its own.
  DIST_TODO("lab 13, part 1: a shuffle that every rank can repeat");
}

std::int64_t DistributedSampler::size() const {
  // TODO: rounded up, or with drop_last rounded down.
  DIST_TODO("lab 13, part 2: how many samples a rank gets");
}

std::vector<std::int64_t> DistributedSampler::indices() const {
  // TODO: size() samples: which places of the list are this rank's?
  // TODO: some of them may lie behind the end of the list.
  // TODO: part 3: the list is shuffled. By which seed?
  DIST_TODO("lab 13, part 2: this rank's samples");
}

void DistributedSampler::set_epoch(std::int64_t epoch) {
  // TODO: for the next call of indices().
  DIST_TODO("lab 13, part 3: another order in each epoch");
}

std::optional<std::int64_t> ShardedStream::next() {
  // TODO: read a whole round, and remember this rank's sample.
  // TODO: is the round this worker's? If not, the next one.
  DIST_TODO("lab 13, part 4: this reader's next sample");
}

std::int64_t run_epoch(const std::function<std::optional<std::int64_t>()>& next,
                       const std::function<void(std::int64_t)>& step) {
  // TODO: do I have a batch? Do all? (dist::all_reduce, and which ReduceOp?)
  // TODO: who has none still has to say so.
  DIST_TODO("lab 13, part 5: all ranks stop after the same step");
}

}  // namespace lab
