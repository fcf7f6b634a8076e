// Lab 04: write these functions. README.md is the handout, isend_irecv.h is the
// specification.
//
//   ./distlab run 4      runs the demonstration with your code
//   ./distlab grade 4    tests your code
//   ./distlab hint 4     prints a hint
#include "isend_irecv.h"

#include "dist/core/todo.h"

namespace lab {

void swap_with(const dist::Tensor& mine, dist::Tensor& theirs, int partner) {
  // TODO: start both, then wait for both. Does one of the two have to be first?
  DIST_TODO("lab 04, part 1: both directions at once");
}

void overlap(const dist::Tensor& out, dist::Tensor& in, int partner, const std::function<void()>& compute) {
  // TODO: where between the starts and the waits must compute() be called?
  DIST_TODO("lab 04, part 2: compute while the messages are under way");
}

void exchange_ghosts(dist::Tensor& field) {
  // TODO: make a list of dist::P2P. Which ranks are above and below? The first
  // and the last rank have one neighbour only.
  // TODO: field[i] is row i and shares its memory with field.
  DIST_TODO("lab 04, part 3: the neighbours' rows");
}

void relax(dist::Tensor& field, int steps, const RowRule& rule) {
  // TODO: where are the new rows stored while the old ones are still needed?
  // TODO: which rows can be computed before the ghost rows have arrived?
  DIST_TODO("lab 04, part 4: inner rows while the ghost rows come");
}

void stream_to(int consumer, Buffers& buffers, int blocks,
               const std::function<void(int i, dist::Tensor& block)>& produce) {
  // TODO: what must be complete before block i is written to buffers[i % 2]?
  // TODO: and what after the last block?
  DIST_TODO("lab 04, part 5: the sending side of the stream");
}

void stream_from(int producer, Buffers& buffers, int blocks,
                 const std::function<void(int i, const dist::Tensor& block)>& consume) {
  // TODO: start two receives before the first block has arrived. When may a
  // buffer be used for the next receive?
  DIST_TODO("lab 04, part 5: the receiving side of the stream");
}

}  // namespace lab
