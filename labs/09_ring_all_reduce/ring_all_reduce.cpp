// Lab 09: write these functions. README.md is the handout,
// ring_all_reduce.h is the specification.
//
//   ./distlab run 9      runs the demonstration with your code
//   ./distlab grade 9    tests your code
//   ./distlab hint 9     prints a hint
#include "ring_all_reduce.h"

#include "dist/core/todo.h"

namespace lab {

using dist::Tensor, dist::Work;

// Useful in all parts: dist::get_rank(), dist::get_world_size(), and
//   std::vector<Tensor> chunks = data.chunk(n);   // they share data's memory

void reduce_scatter(Tensor& data) {
  // TODO: in step s, which chunk leaves, and which one arrives? The last one
  // that arrives must be my own.
  // TODO: into which memory do I receive it, so that my own values are kept?
  DIST_TODO("lab 09, part 1: partial sums around the ring");
}

void all_gather(Tensor& data) {
  // TODO: in step s, which chunk leaves, and which one arrives?
  DIST_TODO("lab 09, part 2: results around the ring");
}

void ring_all_reduce(Tensor& data) {
  // TODO: you have already written both halves.
  DIST_TODO("lab 09, part 3: both halves together");
}

void all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  // TODO: one list of turns: turn t carries segment t % m of step t / m. What
  // leaves in turn t arrived in turn t - m.
  // TODO: while one segment is added, the next one arrives. In which memory?
  DIST_TODO("lab 09, part 4: the same ring in segments");
}

}  // namespace lab
