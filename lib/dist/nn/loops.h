// Loops over elements on the CPU, for the files of plain_ops.h.
#pragma once

#include "dist/core/simd.h"
#include "dist/nn/elements.h"
#include "dist/nn/parts.h"

namespace dist::nn {

// Starting a thread pays off for loops over this many elements.
inline constexpr std::int64_t elements_per_thread = 1 << 14;

// Calls f(i) for every i below `count`, vectorised and on several threads: no iteration depends on another.
template <class F>
void for_each_element(std::int64_t count, const F& f) {
  const auto loop = [&f](std::int64_t begin, std::int64_t end) {
    vectorised([&f, begin, end] {
      const F body = f;  // a copy: for all the compiler knows, stores could change what f captured
      const std::int64_t first = begin, n = end;
      DIST_INDEPENDENT_ITERATIONS
      for (std::int64_t i = first; i < n; ++i) body(i);
    });
  };
  if (count < 2 * elements_per_thread) return loop(0, count);
  in_parts(count, elements_per_thread, loop);
}

// Calls f(begin, end) for runs of `count` rows, each of which is as much work as `width` elements, on several
// threads.
template <class F>
void for_each_row_run(std::int64_t count, std::int64_t width, const F& f) {
  in_parts(count, elements_per_thread / std::max<std::int64_t>(width, 1) + 1, f);
}

// The same row by row: f(row).
template <class F>
void for_each_row(std::int64_t count, std::int64_t width, const F& f) {
  for_each_row_run(count, width, [&f](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) f(row);
  });
}

// Calls f(begin, end) for runs of the columns of a matrix, on several threads: for sums over rows, which each
// thread takes in their order.
template <class F>
void in_columns(std::int64_t rows, std::int64_t width, const F& f) {
  constexpr std::int64_t line = 32;  // fewer columns would share lines of the cache with another thread
  in_parts(width, std::max(line, elements_per_thread / std::max<std::int64_t>(rows, 1) + 1), f);
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
