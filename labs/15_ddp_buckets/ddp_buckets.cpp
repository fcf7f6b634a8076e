// Lab 15: write these functions. README.md tells the story, ddp_buckets.h is
// the contract.
//
//   ./distlab run 15      see what your code does
//   ./distlab grade 15    is it right, and if not, why?
//   ./distlab hint 15     a nudge
#include "ddp_buckets.h"

#include "dist/core/fail.h"
#include "dist/core/todo.h"

namespace lab {

std::vector<std::vector<std::size_t>> fill_buckets(const std::vector<Size>& sizes,
                                                   const std::vector<std::size_t>& limits) {
  // TODO: one open bucket for each dtype. When is it closed: before or after
  // the gradient that reaches the limit?
  // TODO: what about the buckets that are still open at the end?
  DIST_TODO("lab 15, part 1: which gradients travel together");
}

Reducer make_reducer(std::vector<dist::Tensor>& gradients, const std::vector<std::size_t>& limits) {
  // TODO: which gradient does backward compute first?
  // TODO: memory.narrow(start, length).view(shape) shares memory.
  DIST_TODO("lab 15, part 2: gradients become views of buckets");
}

void start(Reducer& reducer) {
  // TODO: how many gradients does each bucket wait for?
  DIST_TODO("lab 15, part 3: a backward begins");
}

void ready(Reducer& reducer, std::size_t i) {
  // TODO: count. Which bucket is the next to be launched, on all ranks?
  DIST_TODO("lab 15, part 3: a gradient is there");
}

void finish(Reducer& reducer) {
  // TODO: wait. And if fewer buckets than there are were launched?
  // dist::fail(dist::Errc::invalid_argument, "bucket {} ...", number) throws.
  DIST_TODO("lab 15, part 4: a backward is over");
}

void accumulate(Reducer& reducer, int count, const std::function<void(int batch)>& backward) {
  // TODO: which of the backwards has to send?
  DIST_TODO("lab 15, part 5: several small batches for one step");
}

}  // namespace lab
