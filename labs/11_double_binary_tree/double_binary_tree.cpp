// Lab 11: write these functions. README.md is the handout,
// double_binary_tree.h is the specification.
//
//   ./distlab run 11     runs the demonstration with your code
//   ./distlab grade 11   tests your code
//   ./distlab hint 11    prints a hint
#include "double_binary_tree.h"

#include "dist/core/todo.h"

namespace lab {

using dist::Tensor, dist::Work;

Place first_tree(int rank, int n) {
  // TODO: rank 0 is an exception: it has no parent and one child.
  // TODO: find the lowest 1 of the rank, and the parent. Does that rank exist?
  // TODO: find the children. Do these ranks exist?
  DIST_TODO("lab 11, part 1: NCCL's first tree");
}

Place second_tree(int rank, int n) {
  // TODO: which place of the first tree does this rank have?
  // TODO: parent and children there are places, too. Which ranks have them?
  DIST_TODO("lab 11, part 2: NCCL's second tree");
}

void double_tree_all_reduce(Tensor& data, std::int64_t segment) {
  // TODO: cut the data into two halves, one for each tree, and into segments.
  // TODO: for every turn and every phase (timetable(rank, n)): which segment
  // does each hop carry now, if any? Start all of them, then wait for all.
  // TODO: add a partial sum; let a result replace the segment.
  DIST_TODO("lab 11, part 3: both trees at the same time");
}

}  // namespace lab
