// Lab 03: write these functions. README.md is the handout, send_recv.h is the
// specification.
//
//   ./distlab run 3      runs the demonstration with your code
//   ./distlab grade 3    tests your code
//   ./distlab hint 3     prints a hint
#include "send_recv.h"

#include "dist/core/todo.h"
#include "dist/group/process_group.h"  // dist::send, dist::recv, dist::get_rank, dist::get_world_size

namespace lab {

void relay(dist::Tensor& t) {
  // TODO: which ranks have a rank before them? These receive, and double.
  // TODO: which ranks have a rank after them? These send.
  DIST_TODO("lab 03, part 1: receive from the rank before, double, pass on to the rank after");
}

void exchange(const dist::Tensor& mine, dist::Tensor& theirs, int partner) {
  // TODO: if this rank is its own partner, copy.
  // TODO: one of the two sends first, the other receives first. Both must make
  // the same decision.
  DIST_TODO("lab 03, part 2: send to the partner and receive from it, in an order that cannot deadlock");
}

void ring_shift(const dist::Tensor& out, dist::Tensor& in) {
  // TODO: in a ring of one rank, copy.
  // TODO: compute the next and the previous rank, for the first and last rank too.
  // TODO: which ranks send first? With a good choice most ranks work at the same
  // time.
  DIST_TODO("lab 03, part 3: give to the next rank of the ring, take from the previous one");
}

std::vector<int> wait_cycle(const std::vector<int>& waits_for) {
  // TODO: begin at a rank and follow the waits. When does the path end, and when
  // does it come back to itself?
  // TODO: which ranks of the path are the cycle? Start with the smallest.
  DIST_TODO("lab 03, part 4: the ranks that wait for each other in a cycle");
}

}  // namespace lab
