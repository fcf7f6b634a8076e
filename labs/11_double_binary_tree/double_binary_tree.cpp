// Lab 11: write these functions. README.md tells the story,
// double_binary_tree.h is the contract.
//
//   ./distlab run 11     see what your code does
//   ./distlab grade 11   is it right, and if not, why?
//   ./distlab hint 11    a nudge
#include "double_binary_tree.h"

#include "dist/core/todo.h"

namespace lab {

using dist::Tensor, dist::Work;

Place first_tree(int rank, int n) {
  // TODO: rank 0 is an exception: no parent, one child.
  // TODO: the lowest 1 of the rank. The parent; is there such a rank?
  // TODO: the children; are there such ranks?
  DIST_TODO("lab 11, part 1: NCCL's first tree");
}

Place second_tree(int rank, int n) {
  // TODO: whose place in the first tree is mine?
  // TODO: parent and children there are places, too: which ranks are they?
  DIST_TODO("lab 11, part 2: NCCL's second tree");
}

void double_tree_all_reduce(Tensor& data, std::int64_t segment) {
  // TODO: two halves, each in segments; one half for each tree.
  // TODO: turn after turn, phase after phase (timetable(rank, n)): which
  // segment has its hop now, if any? Start them all, then wait for all.
  // TODO: a partial sum is added, a result is put in its place.
  DIST_TODO("lab 11, part 3: both trees at the same time");
}

}  // namespace lab
