// Lab 03: write these functions. README.md tells the story, send_recv.h is the
// contract.
//
//   ./distlab run 3      see what your code does
//   ./distlab grade 3    is it right, and if not, why?
//   ./distlab hint 3     a nudge
#include "send_recv.h"

#include "dist/core/todo.h"
#include "dist/group/process_group.h"  // dist::send, dist::recv, dist::get_rank, dist::get_world_size

namespace lab {

void relay(dist::Tensor& t) {
  // TODO: who has somebody before it? It receives, and doubles.
  // TODO: who has somebody after it? It sends.
  DIST_TODO("lab 03, part 1: receive from the rank before, double, pass on to the rank after");
}

void exchange(const dist::Tensor& mine, dist::Tensor& theirs, int partner) {
  // TODO: this rank is its own partner: copy.
  // TODO: one of the two sends first, the other receives first. Both must come
  // to the same decision.
  DIST_TODO("lab 03, part 2: send to the partner and receive from it, in an order that cannot deadlock");
}

void ring_shift(const dist::Tensor& out, dist::Tensor& in) {
  // TODO: a ring of one rank: copy.
  // TODO: the next rank and the previous one, also at the two ends.
  // TODO: who sends first? If it is decided well, most ranks work at the same
  // time.
  DIST_TODO("lab 03, part 3: give to the next rank of the ring, take from the previous one");
}

std::vector<int> wait_cycle(const std::vector<int>& waits_for) {
  // TODO: follow the waits from a rank on. When does the path end, and when
  // does it meet itself?
  // TODO: which ranks of the path are the cycle? Begin with the smallest.
  DIST_TODO("lab 03, part 4: the ranks that wait for each other in a cycle");
}

}  // namespace lab
