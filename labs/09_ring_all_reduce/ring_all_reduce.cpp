// Lab 09: write these functions. README.md tells the story, ring_all_reduce.h is
// the contract.
//
//   ./distlab run 9      see what your code does
//   ./distlab grade 9    is it right, and if not, why?
//   ./distlab hint 9     a nudge
#include "ring_all_reduce.h"

#include "dist/core/todo.h"

namespace lab {

using dist::Tensor, dist::Work;

// Useful in all parts: dist::get_rank(), dist::get_world_size(), and
//   std::vector<Tensor> chunks = data.chunk(n);   // they share data's memory

void reduce_scatter(Tensor& data) {
  // TODO: in step s, which chunk leaves, and which one arrives? The last one
  // that arrives must be mine.
  // TODO: where to does it arrive, if my own numbers may not be lost?
  DIST_TODO("lab 09, part 1: partial sums around the ring");
}

void all_gather(Tensor& data) {
  // TODO: in step s, which chunk leaves, and which one arrives?
  DIST_TODO("lab 09, part 2: results around the ring");
}

void ring_all_reduce(Tensor& data) {
  // TODO: you have both halves.
  DIST_TODO("lab 09, part 3: both halves together");
}

void all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  // TODO: one long list of turns: turn t is segment t % m of step t / m. What
  // leaves in turn t came in turn t - m.
  // TODO: while a segment is added, the next one must be arriving. Where to?
  DIST_TODO("lab 09, part 4: the same ring in segments");
}

}  // namespace lab
