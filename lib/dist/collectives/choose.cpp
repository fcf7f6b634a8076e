#include <array>
#include <limits>
#include <vector>

#include "dist/collectives/algorithms.h"
#include "dist/collectives/segments.h"
#include "dist/collectives/trees.h"
#include "dist/core/fail.h"

namespace dist {

namespace {

// Plain figures for ranks on one host, to weigh latency against bandwidth; only their ratio matters. Measured
// ones belong in a cost model that is calibrated on the machine.
constexpr double alpha_us = 5;          // a message
constexpr double bytes_per_us = 5'000;  // 5 GB/s a rank

double message(double bytes) { return alpha_us + bytes / bytes_per_us; }

struct Candidate {
  OpKind collective;
  std::string_view algorithm;
  double (*cost_us)(int n, double bytes);  // null: the only one that is right for all arguments
  std::string_view why;
};

// The formulas of the headers without gamma. Of equal costs the first is taken.
constexpr std::array candidates{
    Candidate{OpKind::broadcast, "binomial",  //
              [](int n, double s) { return ceil_log2(n) * message(s); },
              "ceil(log2 n) messages one after the other"},
    Candidate{OpKind::broadcast, "chain",
              [](int n, double s) {
                const double m = std::max(1.0, s / default_segment_bytes);
                return (n + m - 2) * message(s / m);
              },
              "pipelined: every rank sends the data only once"},
    Candidate{OpKind::reduce, "binomial", nullptr, "ceil(log2 n) messages one after the other"},
    Candidate{OpKind::all_reduce, "recursive_doubling",
              [](int n, double s) {
                const int p = floor_pow2(n);
                return (ceil_log2(p) + (p == n ? 0 : 2)) * message(s);
              },
              "log2 n messages one after the other"},
    Candidate{OpKind::all_reduce, "ring",  //
              [](int n, double s) { return 2 * (n - 1) * message(s / n); },
              "every rank sends 2(n-1)/n of the data, little more than once"},
    Candidate{OpKind::all_reduce, "tree",
              [](int n, double s) { return 2 * ceil_log2(n) * alpha_us + 3 * s / bytes_per_us; },
              "2 log2 n messages one after the other, pipelined"},
    Candidate{OpKind::scatter, "flat", nullptr, "counts may differ, and only the root knows them"},
    Candidate{OpKind::gather, "flat", nullptr, "counts may differ, and only the root knows them"},
    Candidate{OpKind::all_gather, "ring", nullptr, "the least bytes there can be, between neighbours only"},
    Candidate{OpKind::reduce_scatter, "ring", nullptr,
              "the least bytes there can be, between neighbours only"},
    Candidate{OpKind::all_to_all, "pairwise", nullptr, "each pair has data of its own to exchange"},
    Candidate{OpKind::barrier, "dissemination", nullptr, "ceil(log2 n) rounds for any n"},
};

}  // namespace

Choice choose(OpKind collective, std::size_t bytes, int ranks) {
  const Candidate* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  std::string compared;
  for (const Candidate& c : candidates) {
    if (c.collective != collective) continue;
    if (!c.cost_us) return {c.algorithm, std::string(c.why)};
    const double cost = c.cost_us(ranks, static_cast<double>(bytes));
    compared += fmt::format("{}{} {:.0f} us", compared.empty() ? "" : ", ", c.algorithm, cost);
    if (cost < least) least = cost, best = &c;
  }
  if (!best) fail(Errc::internal, "choose: {} is not a collective", name(collective));
  return {best->algorithm, fmt::format("{} (estimates: {})", best->why, compared)};
}

}  // namespace dist
