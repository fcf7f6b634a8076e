// Lab 15: write these functions. README.md is the handout, ddp_buckets.h is the
// specification.
//
//   ./distlab run 15      runs the demonstration with your code
//   ./distlab grade 15    tests your code
//   ./distlab hint 15     prints a hint
#include "ddp_buckets.h"

#include "dist/core/fail.h"
#include "dist/core/todo.h"

namespace lab {

std::vector<std::vector<std::size_t>> fill_buckets(const std::vector<Size>& sizes,
                                                   const std::vector<std::size_t>& limits) {
  // TODO: one open bucket for each dtype. When is it closed: before or after
  // the gradient that reaches the limit?
  // TODO: what happens to the buckets that are still open at the end?
  DIST_TODO("lab 15, part 1: which gradients travel together");
}

Reducer make_reducer(std::vector<dist::Tensor>& gradients, const std::vector<std::size_t>& limits) {
  // TODO: which gradient does backward compute first?
  // TODO: memory.narrow(start, length).view(shape) shares memory.
  DIST_TODO("lab 15, part 2: gradients become views of buckets");
}

void start(Reducer& reducer) {
  // TODO: for how many gradients does each bucket wait?
  DIST_TODO("lab 15, part 3: a backward begins");
}

void ready(Reducer& reducer, std::size_t i) {
  // TODO: count. Which bucket is launched next, the same on all ranks?
  DIST_TODO("lab 15, part 3: a gradient is ready");
}

void finish(Reducer& reducer) {
  // TODO: wait. What if some buckets were not launched?
  // dist::fail(dist::Errc::invalid_argument, "bucket {} ...", number) throws.
  DIST_TODO("lab 15, part 4: a backward is over");
}

void accumulate(Reducer& reducer, int count, const std::function<void(int batch)>& backward) {
  // TODO: which of the backward passes has to send?
  DIST_TODO("lab 15, part 5: several small batches for one step");
}

}  // namespace lab
