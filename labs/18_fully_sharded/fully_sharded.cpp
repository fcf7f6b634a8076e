// Lab 18: write these functions. README.md is the handout, fully_sharded.h is the
// specification.
//
//   ./distlab run 18      runs the demonstration with your code
//   ./distlab grade 18    tests your code
//   ./distlab hint 18     prints a hint
#include "fully_sharded.h"

#include "dist/core/todo.h"

namespace lab {

using dist::Tensor;

Rows rows_of(std::int64_t rows, int rank, int n) {
  // TODO: ceil(rows / n) rows per rank, until there are none left.
  DIST_TODO("lab 18, part 1: the rows of a rank");
}

void zero_step(Tensor& parameter, const Tensor& gradient, const Update& update) {
  // TODO: reduce-scatter, update your own rows, all-gather.
  // TODO: which tensors need padding?
  DIST_TODO("lab 18, part 1: each rank updates its rows");
}

Unit make_unit(const Tensors& parameters) {
  // TODO: how many elements does a shard have (part_size)? Which part of each parameter is yours (parts_of)?
  DIST_TODO("lab 18, part 2: the shard of a rank");
}

Gather start_gather(const Unit& unit) {
  // TODO: {.async_op = true}
  DIST_TODO("lab 18, part 2: a gather begins");
}

Tensors finish_gather(const Unit& unit, Gather& gather) {
  // TODO: wait; then copy the parts of every rank to their places (parts_of).
  DIST_TODO("lab 18, part 2: a gather ends");
}

Reduction start_reduction(const Unit& unit, const Tensors& gradients) {
  // TODO: the same copies in the other direction. What is in the padding?
  DIST_TODO("lab 18, part 2: a reduction begins");
}

void finish_reduction(Unit& unit, Reduction& reduction) {
  // TODO: wait; add; give up.
  DIST_TODO("lab 18, part 2: a reduction ends");
}

Tensor forward(const std::vector<Unit>& units, const Tensor& input, const Compute& compute) {
  // TODO: gather, compute, give up.
  DIST_TODO("lab 18, part 3: forward");
}

void backward(std::vector<Unit>& units, const Tensor& grad_output, const Compute& compute) {
  // TODO: gather, compute, give up, reduce; from the last unit to the first.
  DIST_TODO("lab 18, part 3: backward");
}

Tensor prefetching_forward(const std::vector<Unit>& units, const Tensor& input, const Compute& compute) {
  // TODO: what must have been started when a unit begins to compute?
  DIST_TODO("lab 18, part 4: forward with prefetch");
}

void prefetching_backward(std::vector<Unit>& units, const Tensor& grad_output, const Compute& compute) {
  // TODO: which unit is next? And when do you wait for a reduction?
  DIST_TODO("lab 18, part 4: backward with prefetch");
}

}  // namespace lab
