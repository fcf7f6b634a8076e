// Lab 13: write these functions. README.md is the handout,
// distributed_sampler.h is the specification.
//
//   ./distlab run 13      runs the demonstration with your code
//   ./distlab grade 13    tests your code
//   ./distlab hint 13     prints a hint
#include "distributed_sampler.h"

#include <random>

#include "dist/core/todo.h"
#include "dist/dist.h"

namespace lab {

std::vector<std::int64_t> randperm(std::int64_t n, std::uint64_t seed) {
  // TODO: begin with 0, 1, ..., n - 1; then draw n - 1 times, and swap each time.
  // TODO: draw with generator() and %; std::shuffle gives another order.
  DIST_TODO("lab 13, part 1: a shuffle that every rank can repeat");
}

std::int64_t DistributedSampler::size() const {
  // TODO: round up, or with drop_last round down.
  DIST_TODO("lab 13, part 2: how many samples a rank gets");
}

std::vector<std::int64_t> DistributedSampler::indices() const {
  // TODO: size() samples: which positions of the list are this rank's?
  // TODO: some of them may be beyond the end of the list.
  // TODO (part 3): the list is shuffled. With which seed?
  DIST_TODO("lab 13, part 2: this rank's samples");
}

void DistributedSampler::set_epoch(std::int64_t epoch) {
  // TODO: store it for the next call of indices().
  DIST_TODO("lab 13, part 3: another order in each epoch");
}

std::optional<std::int64_t> ShardedStream::next() {
  // TODO: read a whole round, and remember this rank's sample.
  // TODO: does the round belong to this worker? If not, read the next one.
  DIST_TODO("lab 13, part 4: this reader's next sample");
}

std::int64_t run_epoch(const std::function<std::optional<std::int64_t>()>& next,
                       const std::function<void(std::int64_t)>& step) {
  // TODO: do all ranks have a batch? (dist::all_reduce, and which ReduceOp?)
  // TODO: a rank without a batch must take part, too.
  DIST_TODO("lab 13, part 5: all ranks stop after the same step");
}

}  // namespace lab
