// Lab 12: write these functions. README.md is the handout,
// choose_an_algorithm.h is the specification.
//
//   ./distlab run 12      runs the demonstration with your code
//   ./distlab grade 12    tests your code
//   ./distlab hint 12     prints a hint
#include "choose_an_algorithm.h"

#include "dist/core/todo.h"
#include "dist/dist.h"

namespace lab {

Line fit_line(const std::vector<Point>& points) {
  // TODO: least squares of relative errors: each point has weight 1/seconds^2.
  DIST_TODO("lab 12, part 1: the line through the measurements");
}

Costs costs_of(const std::vector<Point>& one_way, const std::vector<Point>& burst) {
  // TODO: fit two lines. Which of the three costs are in which line?
  DIST_TODO("lab 12, part 1: alpha, overhead and beta");
}

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  // TODO: for each algorithm: how many messages pass the busiest port one after
  // the other, how large is each, and how many latencies are waited for?
  // TODO (part 3): the hierarchical algorithm.
  DIST_TODO("lab 12, part 2: the seconds of an all_reduce");
}

Traffic traffic(Algorithm algorithm, int ranks, double bytes) {
  // TODO: count all messages, and those of the busiest rank.
  DIST_TODO("lab 12, part 2: the bytes of an all_reduce");
}

Algorithm choose(const Machine& machine, double bytes) {
  // TODO: use predict(), and no thresholds.
  DIST_TODO("lab 12, part 3: the cheapest algorithm");
}

Groups make_groups(int gpus) {
  // TODO: every rank makes every group, in the same order (Lab 02).
  DIST_TODO("lab 12, part 4: groups within the nodes and across them");
}

void hierarchical_all_reduce(dist::Tensor& data, const Groups& groups) {
  // TODO: within the node, each rank gets the sum of one slice of the data.
  // TODO: across the nodes, these slices are summed.
  // TODO: within the node, every rank gets the slices of the others.
  DIST_TODO("lab 12, part 4: a hierarchical all_reduce");
}

}  // namespace lab
