// Lab 02: write these functions. README.md is the handout, new_group.h is the
// specification.
//
//   ./distlab run 2      runs the demonstration with your code
//   ./distlab grade 2    tests your code
//   ./distlab hint 2     prints a hint
#include "new_group.h"

#include "dist/core/fail.h"  // dist::fail(dist::Errc::invalid_argument, "{} rows ...", rows)
#include "dist/core/todo.h"

namespace lab {

Halves make_halves() {
  // TODO: list the ranks of the lower half, and those of the upper half. The
  // world size may be odd.
  // TODO: call new_group for each half. Which ranks make which call?
  DIST_TODO("lab 02, part 1: both halves, on every rank");
}

double half_sum(const Halves& halves, double mine) {
  // TODO: which half is this rank in?
  // TODO: make a tensor of one f64, and call all_reduce in that group.
  DIST_TODO("lab 02, part 2: the sum over my half");
}

std::array<double, 2> both_sums(const Halves& halves, double mine) {
  // TODO: put my half's sum into one of two elements. Which value in the other
  // element is never the maximum?
  // TODO: call all_reduce over the world.
  DIST_TODO("lab 02, part 3: both sums on every rank");
}

Mesh make_mesh(int rows, int columns) {
  // TODO: reject a shape that does not fit this world:
  // fail(Errc::invalid_argument, ...).
  // TODO: make every row's group, then every column's; keep this rank's two.
  DIST_TODO("lab 02, part 4: rows and columns");
}

void broadcast_in_row(dist::Tensor& t, const Mesh& mesh, int column) {
  // TODO: broadcast's src is a global rank, even with .group. Which one is it?
  DIST_TODO("lab 02, part 5: one rank's tensor to its row");
}

int slowest_in_column(const Mesh& mesh, double seconds) {
  // TODO: how many seconds did the slowest rank of my column take?
  // TODO: which rank is it? Several ranks may be equally slow.
  DIST_TODO("lab 02, part 5: the slowest rank of my column");
}

}  // namespace lab
