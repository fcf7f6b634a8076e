#include "formulas.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "dist/collectives/segments.h"
#include "dist/collectives/trees.h"
#include "dist/launch/simulate_collective.h"

namespace dist::test {
namespace {

double log2_of(int n) { return ceil_log2(n); }
// The largest share of n.
double share(int n, double bytes) { return std::ceil(bytes / 4 / n) * 4; }

// For other n than powers of two, at most.
double recursive_doubling(int n, double s) {
  const double rounds = ceil_log2(floor_pow2(n));
  if (floor_pow2(n) == n) return rounds * (o + alpha + beta * s + gamma * s);
  return (rounds + 3) * (o + beta * s) + (rounds + 2) * alpha + (rounds + 1) * gamma * s;
}

double chain(int n, double bytes) {
  const double segment = std::min<double>(bytes, default_segment_bytes);
  const double m = std::max(1., std::ceil(bytes / default_segment_bytes));
  return (n - 1) * (o + alpha + beta * segment) + (m - 1) * o + beta * (bytes - segment);
}

// Messages one after the other, each of S bytes, on ceil(log2 n) levels.
double levels(int n, double s, double sums) { return log2_of(n) * (o + alpha + beta * s + sums * gamma * s); }

const std::vector<Formula> all{
    {OpKind::broadcast, "flat", [](int n, double s) { return (n - 1) * (o + beta * s) + alpha; }},
    {OpKind::broadcast, "binomial", [](int n, double s) { return levels(n, s, 0); }, false, true},
    {OpKind::broadcast, "chain", chain},
    {OpKind::reduce, "flat", [](int n, double s) { return (n - 1) * (o + beta * s) + alpha + gamma * s; }},
    {OpKind::reduce, "binomial", [](int n, double s) { return levels(n, s, 1); }, false, true},
    {OpKind::all_reduce, "recursive_doubling", recursive_doubling, false, true},
    {OpKind::all_reduce, "ring",
     [](int n, double s) {
       return 2 * (n - 1) * (o + alpha + beta * share(n, s)) + (n - 1) * gamma * share(n, s);
     },
     true},
    {OpKind::all_reduce, "reduce_broadcast",
     [](int n, double s) { return levels(n, s, 1) + levels(n, s, 0); }, false, true},
    {OpKind::scatter, "flat", [](int n, double s) { return (n - 1) * (o + beta * share(n, s)) + alpha; }},
    {OpKind::gather, "flat", [](int n, double s) { return (n - 1) * (o + beta * share(n, s)) + alpha; }},
    {OpKind::scatter, "binomial",
     [](int n, double s) { return log2_of(n) * (o + alpha) + (n - 1) * beta * s / n; }, false, true},
    {OpKind::gather, "binomial",
     [](int n, double s) { return log2_of(n) * (o + alpha) + (n - 1) * beta * s / n; }, false, true},
    {OpKind::all_gather, "ring", [](int n, double s) { return (n - 1) * (o + alpha + beta * share(n, s)); },
     true},
    {OpKind::all_gather, "pairwise",
     [](int n, double s) { return (n - 1) * (o + alpha + beta * share(n, s)); }, true},
    {OpKind::reduce_scatter, "ring",
     [](int n, double s) { return (n - 1) * (o + alpha + (beta + gamma) * share(n, s)); }, true},
    {OpKind::reduce_scatter, "pairwise",
     [](int n, double s) { return (n - 1) * (o + alpha + (beta + gamma) * share(n, s)); }, true},
    {OpKind::all_to_all, "pairwise",
     [](int n, double s) { return (n - 1) * (o + alpha + beta * share(n, s)); }, true},
    {OpKind::barrier, "dissemination", [](int n, double) { return log2_of(n) * (o + alpha); }},
};

}  // namespace

const std::vector<Formula>& formulas() { return all; }

double simulated(const Formula& formula, int n, std::int64_t bytes, double sums) {
  return sim::simulate_collective({formula.collective, formula.algorithm, n, bytes},
                                  sim::Topology::uniform(o, alpha, beta, sums))
      .virtual_time_s;
}

std::int64_t whole_shares(const Formula& formula, int n, std::int64_t bytes) {
  const bool equal_shares = formula.collective == OpKind::scatter || formula.collective == OpKind::gather ||
                            formula.collective == OpKind::all_to_all;
  return equal_shares ? (bytes + 4 * n - 1) / (4 * n) * 4 * n : bytes;
}

void expect_time(const Formula& formula, int n, std::int64_t bytes) {
  const std::int64_t whole = whole_shares(formula, n, bytes);
  const double expected = formula.seconds(n, static_cast<double>(whole)), is = simulated(formula, n, whole);
  EXPECT_LE(is, 1.01 * expected) << n << " ranks, " << whole << " bytes";
  if (!formula.powers_only || floor_pow2(n) == n) {
    EXPECT_GE(is, 0.99 * expected) << n << " ranks, " << whole << " bytes";
  }
}

}  // namespace dist::test
