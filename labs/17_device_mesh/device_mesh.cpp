// Lab 17: write these functions. README.md is the handout, device_mesh.h is the
// specification.
//
//   ./distlab run 17      runs the demonstration with your code
//   ./distlab grade 17    tests your code
//   ./distlab hint 17     prints a hint
#include "device_mesh.h"

#include "dist/core/todo.h"

namespace lab {

std::vector<int> coordinates(const Grid& grid, int rank) {
  // TODO: where in grid.ranks is the rank? Then take one coordinate after the
  // other from this number: which axis is the easiest to begin with?
  DIST_TODO("lab 17, part 1: where a rank is");
}

int rank_at(const Grid& grid, const std::vector<int>& coordinates) {
  // TODO: the inverse.
  DIST_TODO("lab 17, part 1: the rank at a place");
}

Grid slice(const Grid& grid, const Names& axes, int rank) {
  // TODO: which ranks of the grid belong to it? Compare coordinates.
  DIST_TODO("lab 17, part 2: the slice of a rank");
}

Mesh make_mesh(const Grid& grid) {
  // TODO: for each axis, one new_group for each of its lines. Which rank makes
  // which of these calls?
  DIST_TODO("lab 17, part 3: the groups of all lines");
}

void flatten(Mesh& mesh, const Names& axes, const std::string& name) {
  // TODO: what is different from the lines of one axis?
  DIST_TODO("lab 17, part 3: several axes as one");
}

MeanLoss mean_loss(const Mesh& mesh, const std::string& data, double sum, std::int64_t tokens) {
  // TODO: what must be summed, and over which ranks?
  DIST_TODO("lab 17, part 4: the mean of all tokens");
}

double gradient_norm(const Mesh& mesh, const std::vector<Gradient>& gradients) {
  // TODO: sums of squares first. What does each axis add to which of them?
  DIST_TODO("lab 17, part 5: the norm of the whole gradient");
}

double clip_gradients(const Mesh& mesh, std::vector<Gradient>& gradients, double max_norm) {
  // TODO: one norm for all gradients.
  DIST_TODO("lab 17, part 5: limit the norm");
}

}  // namespace lab
