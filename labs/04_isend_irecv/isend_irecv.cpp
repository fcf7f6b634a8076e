// Lab 04: write these functions. README.md tells the story, isend_irecv.h is
// the contract.
//
//   ./distlab run 4      see what your code does
//   ./distlab grade 4    is it right, and if not, why?
//   ./distlab hint 4     a nudge
#include "isend_irecv.h"

#include "dist/core/todo.h"

namespace lab {

void swap_with(const dist::Tensor& mine, dist::Tensor& theirs, int partner) {
  // TODO: start both, then wait for both. Does anybody have to be first?
  DIST_TODO("lab 04, part 1: both directions at once");
}

void overlap(const dist::Tensor& out, dist::Tensor& in, int partner, const std::function<void()>& compute) {
  // TODO: where between the start and the wait does compute() belong?
  DIST_TODO("lab 04, part 2: compute while the messages are under way");
}

void exchange_ghosts(dist::Tensor& field) {
  // TODO: a list of dist::P2P: who is above, who is below? At the ends of the
  // world somebody is missing.
  // TODO: field[i] is row i and shares its memory with field.
  DIST_TODO("lab 04, part 3: the neighbours' rows");
}

void relax(dist::Tensor& field, int steps, const RowRule& rule) {
  // TODO: where do the new rows go, while the old ones are still needed?
  // TODO: which rows can be made before the ghost rows have come?
  DIST_TODO("lab 04, part 4: inner rows while the ghost rows come");
}

void stream_to(int consumer, Buffers& buffers, int blocks,
               const std::function<void(int i, dist::Tensor& block)>& produce) {
  // TODO: before block i is produced into buffers[i % 2], what must have ended?
  // TODO: and after the last block?
  DIST_TODO("lab 04, part 5: the sending side of the stream");
}

void stream_from(int producer, Buffers& buffers, int blocks,
                 const std::function<void(int i, const dist::Tensor& block)>& consume) {
  // TODO: two receives under way before the first block has come. When is a
  // buffer free for the next?
  DIST_TODO("lab 04, part 5: the receiving side of the stream");
}

}  // namespace lab
