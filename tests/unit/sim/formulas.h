// The formulas of the algorithms' headers, as functions of the machine below.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dist/core/op_kind.h"
#include "dist/core/sanitizer.h"

namespace dist::test {

// Seconds; a sum hides behind the next message (gamma < beta).
inline constexpr double o = 1e-6, alpha = 2e-6, beta = 1e-10, gamma = 0.6e-10;

// Of one algorithm.
struct Formula {
  OpKind collective;
  std::string algorithm;
  double (*seconds)(int n, double bytes);
  bool quadratic = false;    // n^2 messages
  bool powers_only = false;  // exact for powers of two; for other n at most that
};

const std::vector<Formula>& formulas();

// Seconds on the virtual clock. `sums`: seconds a byte.
double simulated(const Formula& formula, int n, std::int64_t bytes, double sums = gamma);

// The bytes, or a few more so that all shares are equal where they must be.
std::int64_t whole_shares(const Formula& formula, int n, std::int64_t bytes);

// Expects the virtual time to be the formula's, within 1 %.
void expect_time(const Formula& formula, int n, std::int64_t bytes);

inline constexpr bool slow_build = built_with_asan || built_with_tsan;

}  // namespace dist::test
