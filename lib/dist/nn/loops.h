// Loops over elements on the CPU, for the files of plain_ops.h.
#pragma once

#include <type_traits>

#include "dist/core/simd.h"
#include "dist/core/tensor.h"

namespace dist::nn {

// Calls f.template operator()<T>() with float or double.
template <class F>
void visit_float(DType dtype, const F& f) {
  if (dtype == DType::f64) return f.template operator()<double>();
  f.template operator()<float>();
}

template <class T>
T* elements(const Tensor& t) {
  return static_cast<T*>(t.raw());
}

// f(i) for every i below `count`, as vectors: iterations do not depend on each other.
template <class F>
void for_each_element(std::int64_t count, const F& f) {
  vectorised([&f, count] {
    const F body = f;  // a copy: stores cannot change what it captured, for all the compiler knows
    const std::int64_t n = count;
    DIST_INDEPENDENT_ITERATIONS
    for (std::int64_t i = 0; i < n; ++i) body(i);
  });
}

// The sum of all double f(i), as sixteen sums side by side, which is how vectors add.
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

// Channels of a tensor [n, c, ...]: row r of length `inner` belongs to channel r % c.
struct Channels {
  std::int64_t batch, channels, inner;

  explicit Channels(const Tensor& t)
      : batch(t.size(0)),
        channels(t.size(1)),
        inner(batch * channels == 0 ? 0 : t.numel() / (batch * channels)) {}
};

}  // namespace dist::nn
