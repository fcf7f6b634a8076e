// Access to the elements of a tensor, for the loops and kernels of this folder.
#pragma once

#include "dist/core/tensor.h"

namespace dist::nn {

// Calls the operator() of f with float or double as its template argument.
template <class F>
void visit_float(DType dtype, const F& f) {
  if (dtype == DType::f64) return f.template operator()<double>();
  f.template operator()<float>();
}

template <class T>
T* elements(const Tensor& t) {
  return static_cast<T*>(t.raw());
}

// Rows of a tensor [..., width].
struct Rows {
  std::int64_t count, width;
  explicit Rows(const Tensor& t) : count(t.size(-1) == 0 ? 0 : t.numel() / t.size(-1)), width(t.size(-1)) {}
};

// Channels of a tensor [n, c, ...]: row r of length `inner` belongs to channel r % c.
struct Channels {
  std::int64_t batch, channels, inner;

  explicit Channels(const Tensor& t)
      : batch(t.size(0)),
        channels(t.size(1)),
        inner(batch * channels == 0 ? 0 : t.numel() / (batch * channels)) {}
};

}  // namespace dist::nn
