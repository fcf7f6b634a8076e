// Lab 10: write these functions. README.md is the handout,
// tree_all_reduce.h is the specification.
//
//   ./distlab run 10     runs the demonstration with your code
//   ./distlab grade 10   tests your code
//   ./distlab hint 10    prints a hint
#include "tree_all_reduce.h"

#include "dist/core/todo.h"

namespace lab {

using dist::Tensor, dist::Work;

Place tree_place(int rank, int n) {
  // TODO: which rank is my parent? (Rank 0 has none.)
  // TODO: which ranks are my children, and do they exist?
  DIST_TODO("lab 10, part 1: parent and children of a rank");
}

void reduce_to_root(Tensor& data) {
  // TODO: receive my children's sums, and send mine to my parent. Into which
  // memory do I receive them, so that my own values are kept?
  DIST_TODO("lab 10, part 2: partial sums up the tree");
}

void tree_all_reduce(Tensor& data) {
  // TODO: send the sums up, then the result down.
  DIST_TODO("lab 10, part 3: up the tree and down again");
}

void tree_all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  // TODO: in turn t segment t goes up from this rank. After how many turns is it
  // back at my depth? Then it goes down.
  // TODO: which receives can be started early, and which sends need not be
  // waited for immediately?
  DIST_TODO("lab 10, part 4: segments up and down at the same time");
}

}  // namespace lab
