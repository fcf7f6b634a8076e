// Loops over elements on the CPU, for the files of plain_ops.h.
#pragma once

#include "dist/core/simd.h"
#include "dist/nn/elements.h"

namespace dist::nn {

// Calls f(i) for every i below `count`, vectorised: no iteration depends on another.
template <class F>
void for_each_element(std::int64_t count, const F& f) {
  vectorised([&f, count] {
    const F body = f;  // a copy: for all the compiler knows, stores could change what f captured
    const std::int64_t n = count;
    DIST_INDEPENDENT_ITERATIONS
    for (std::int64_t i = 0; i < n; ++i) body(i);
  });
}

// The sum of all double f(i), as sixteen partial sums side by side, as vector instructions add.
template <class F>
double sum_of(std::int64_t count, const F& f) {
  constexpr std::int64_t lanes = 16;
  double total = 0;
  vectorised([&f, count, &total] {
    const F body = f;
    double sums[lanes] = {};
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
      for (std::int64_t j = 0; j < lanes; ++j) sums[j] += body(i + j);
    for (; i < count; ++i) sums[0] += body(i);
    for (const double sum : sums) total += sum;
  });
  return total;
}

}  // namespace dist::nn
