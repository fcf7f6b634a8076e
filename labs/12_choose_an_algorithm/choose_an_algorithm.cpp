// Lab 12: write these functions. README.md tells the story,
// choose_an_algorithm.h is the contract.
//
//   ./distlab run 12      see what your code does
//   ./distlab grade 12    is it right, and if not, why?
//   ./distlab hint 12     a nudge
#include "choose_an_algorithm.h"

#include "dist/core/todo.h"
#include "dist/dist.h"

namespace lab {

Line fit_line(const std::vector<Point>& points) {
  // TODO: least squares of relative errors: each point counts with 1/seconds^2.
  DIST_TODO("lab 12, part 1: the line through the measurements");
}

Costs costs_of(const std::vector<Point>& one_way, const std::vector<Point>& burst) {
  // TODO: two lines. Which of the three costs are in which line?
  DIST_TODO("lab 12, part 1: alpha, overhead and beta");
}

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  // TODO: for each algorithm: how many messages follow each other through the
  // busiest port, how long is each, and how often is its way waited for?
  // TODO: part 3: the hierarchical one.
  DIST_TODO("lab 12, part 2: the seconds of an all_reduce");
}

Traffic traffic(Algorithm algorithm, int ranks, double bytes) {
  // TODO: count the messages, and those of the busiest rank.
  DIST_TODO("lab 12, part 2: the bytes of an all_reduce");
}

Algorithm choose(const Machine& machine, double bytes) {
  // TODO: no thresholds: ask predict().
  DIST_TODO("lab 12, part 3: the cheapest algorithm");
}

Groups make_groups(int gpus) {
  // TODO: every rank makes every group, in the same order (lab 02).
  DIST_TODO("lab 12, part 4: groups within the nodes and across them");
}

void hierarchical_all_reduce(dist::Tensor& data, const Groups& groups) {
  // TODO: each rank of a node sums up a part of the node's data.
  // TODO: the parts of all nodes are summed across the nodes.
  // TODO: the ranks of a node give each other their parts.
  DIST_TODO("lab 12, part 4: a hierarchical all_reduce");
}

}  // namespace lab
