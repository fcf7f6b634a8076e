#include "formulas.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <gtest/gtest.h>

#include "dist/collectives/trees.h"
#include "dist/core/fail.h"
#include "dist/simulate/simulate_collective.h"

namespace dist::test {
namespace {

template <std::size_t n>
bool is_among(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

Formula formula_for(const AlgorithmEntry& algorithm) {
  static constexpr std::array<std::string_view, 6> quadratic{
      "ring", "ring_segmented", "pairwise", "hierarchical", "scatter_all_gather", "naive_exchange"};
  static constexpr std::array<std::string_view, 8> at_most{
      "binomial",          "recursive_doubling", "rabenseifner",       "reduce_broadcast",
      "recursive_halving", "scatter_gather",     "scatter_all_gather", "scatter_bruck"};
  Formula formula{.algorithm = &algorithm};
  formula.quadratic = is_among(quadratic, algorithm.name);
  if (algorithm.name == "tree" || algorithm.name == "double_binary_tree") {  // "about"
    formula.least = 0.33, formula.most = 1.6, formula.least_of_others = 0.6;
  }
  if (algorithm.name == "recursive_halving") formula.most = 1.02;       // shares are whole elements
  if (algorithm.name == "scatter_bruck") formula.most_of_others = 1.4;  // "about"
  if (algorithm.collective == OpKind::all_to_all) formula.quadratic = true;
  const bool by_all_reduce = algorithm.collective != OpKind::all_gather;  // there both are exact for any n
  if (by_all_reduce && is_among(at_most, algorithm.name)) formula.least_of_others = 0;
  return formula;
}

std::vector<Formula> of_the_table() {
  std::vector<Formula> all;
  for (const AlgorithmEntry& algorithm : algorithms())
    if (!algorithm.direct) all.push_back(formula_for(algorithm));
  return all;
}

// The bytes, or a few more, so that all chunks are equal where they must be.
std::int64_t whole_shares(OpKind collective, int n, std::int64_t bytes) {
  const bool equal_shares =
      collective == OpKind::scatter || collective == OpKind::gather || collective == OpKind::all_to_all;
  return equal_shares ? (bytes + 4 * n - 1) / (4 * n) * 4 * n : bytes;
}

}  // namespace

std::string Formula::name() const {
  return std::string(dist::name(algorithm->collective)) + "_" + std::string(algorithm->name);
}

double Formula::seconds(int n, std::int64_t bytes) const {
  return algorithm->seconds(machine, {.ranks = n}, static_cast<double>(bytes));
}

const std::vector<Formula>& formulas() {
  static const std::vector<Formula> all = of_the_table();
  return all;
}

const Formula& formula_of(OpKind collective, std::string_view algorithm) {
  const auto found =
      std::ranges::find(formulas(), &find_algorithm(collective, algorithm), &Formula::algorithm);
  if (found == formulas().end()) fail(Errc::internal, "{} has no formula", algorithm);
  return *found;
}

double simulated(const AlgorithmEntry& algorithm, int n, std::int64_t bytes, const sim::Topology& topology) {
  return sim::simulate_collective({algorithm.collective, std::string(algorithm.name), n, bytes}, topology)
      .virtual_time_s;
}

void expect_time(const Formula& formula, int n, std::int64_t bytes) {
  const std::int64_t whole = whole_shares(formula.algorithm->collective, n, bytes);
  const double expected = formula.seconds(n, whole), is = simulated(*formula.algorithm, n, whole);
  const bool is_other = floor_pow2(n) != n;
  const double least = is_other ? formula.least_of_others : formula.least;
  const double most = is_other && formula.most_of_others > 0 ? formula.most_of_others : formula.most;
  EXPECT_LE(is, most * expected) << n << " ranks, " << whole << " bytes";
  EXPECT_GE(is, least * expected) << n << " ranks, " << whole << " bytes";
}

}  // namespace dist::test
