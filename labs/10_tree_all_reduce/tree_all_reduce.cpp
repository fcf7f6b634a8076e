// Lab 10: write these functions. README.md tells the story, tree_all_reduce.h is
// the contract.
//
//   ./distlab run 10     see what your code does
//   ./distlab grade 10   is it right, and if not, why?
//   ./distlab hint 10    a nudge
#include "tree_all_reduce.h"

#include "dist/core/todo.h"

namespace lab {

using dist::Tensor, dist::Work;

Place tree_place(int rank, int n) {
  // TODO: who is above me? (Nobody above rank 0.)
  // TODO: who is below me, and is there such a rank?
  DIST_TODO("lab 10, part 1: parent and children of a rank");
}

void reduce_to_root(Tensor& data) {
  // TODO: my children's sums come, and mine goes to my parent. Where do they
  // come to, if my own numbers may not be lost?
  DIST_TODO("lab 10, part 2: partial sums up the tree");
}

void tree_all_reduce(Tensor& data) {
  // TODO: up; then the result down.
  DIST_TODO("lab 10, part 3: up the tree and down again");
}

void tree_all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  // TODO: in turn t segment t goes up from here. When can it be back, at my
  // depth? That many turns later it goes down.
  // TODO: which receives can be posted early, which sends need not be waited
  // for at once?
  DIST_TODO("lab 10, part 4: segments up and down at the same time");
}

}  // namespace lab
