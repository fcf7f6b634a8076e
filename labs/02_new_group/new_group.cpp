// Lab 02: write these functions. README.md tells the story, new_group.h is the
// contract.
//
//   ./distlab run 2      see what your code does
//   ./distlab grade 2    is it right, and if not, why?
//   ./distlab hint 2     a nudge
#include "new_group.h"

#include "dist/core/fail.h"  // dist::fail(dist::Errc::invalid_argument, "{} rows ...", rows)
#include "dist/core/todo.h"

namespace lab {

Halves make_halves() {
  // TODO: the ranks of the lower half, and those of the upper; mind odd world
  // sizes.
  // TODO: a new_group for each. Who calls which?
  DIST_TODO("lab 02, part 1: both halves, on every rank");
}

double half_sum(const Halves& halves, double mine) {
  // TODO: which half is mine?
  // TODO: a tensor of one f64, one all_reduce in that group.
  DIST_TODO("lab 02, part 2: the sum over my half");
}

std::array<double, 2> both_sums(const Halves& halves, double mine) {
  // TODO: my half's sum in one of two places. What stands in the other, so that
  // MAX never takes it?
  // TODO: one all_reduce over the world.
  DIST_TODO("lab 02, part 3: both sums on every rank");
}

Mesh make_mesh(int rows, int columns) {
  // TODO: refuse what is no mesh of this world: fail(Errc::invalid_argument,
  // ...).
  // TODO: every row's group, then every column's; keep the two that are mine.
  DIST_TODO("lab 02, part 4: rows and columns");
}

void broadcast_in_row(dist::Tensor& t, const Mesh& mesh, int column) {
  // TODO: broadcast's src is a global rank, also with .group. Which one is it?
  DIST_TODO("lab 02, part 5: one rank's tensor to its row");
}

int slowest_in_column(const Mesh& mesh, double seconds) {
  // TODO: how slow is the slowest of my column?
  // TODO: who is it? Several may be equally slow.
  DIST_TODO("lab 02, part 5: the slowest rank of my column");
}

}  // namespace lab
