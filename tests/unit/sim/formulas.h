// The formulas of the algorithms' table (collectives/formulas.h) against the simulator's clock, on the
// machine below.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dist/collectives/algorithms.h"
#include "dist/sim/topology.h"

#include "support/slow_build.h"

namespace dist::test {

// Seconds; a sum hides behind the next message (gamma < beta). Copies take no time on the simulator's clock.
inline constexpr double o = 1e-6, alpha = 2e-6, beta = 1e-10, gamma = 0.6e-10;
inline constexpr CostModel machine{
    .alpha = alpha, .beta = beta, .gamma = gamma, .overhead = o, .handshake = 0, .copy = 0};

// The bounds of one algorithm, as parts of its formula, between which the time is.
struct Formula {
  const AlgorithmEntry* algorithm = nullptr;
  bool quadratic = false;  // n^2 messages
  double least = 0.99, most = 1.01;
  // Where n is not a power of two. Least 0: the formula is an upper bound then.
  double least_of_others = 0.99, most_of_others = 0;  // 0: `most`

  std::string name() const;  // "all_reduce_ring"
  double seconds(int n, std::int64_t bytes) const;
};

// One for each algorithm of the table that simulations can run.
const std::vector<Formula>& formulas();
const Formula& formula_of(OpKind collective, std::string_view algorithm);

// Seconds on the virtual clock.
double simulated(const AlgorithmEntry& algorithm, int n, std::int64_t bytes,
                 const sim::Topology& topology = sim::Topology::uniform(o, alpha, beta, gamma));

// Expects the virtual time to be the formula's.
void expect_time(const Formula& formula, int n, std::int64_t bytes);

}  // namespace dist::test
