// Access to the elements of a tensor, for the loops and kernels of this folder.
#pragma once

#include "dist/core/functors.h"
#include "dist/core/tensor.h"

namespace dist::nn {

// Calls the operator() of f with the type of the elements, BFloat16, float or double, as its template
// argument. All are computed in ComputeType<T>: bf16 in f32, and each result is rounded once.
template <class F>
void visit_float(DType dtype, const F& f) {
  if (dtype == DType::f64) return f.template operator()<double>();
  if (dtype == DType::bf16) return f.template operator()<BFloat16>();
  f.template operator()<float>();
}

// The same for tensors that are not in bf16, or were converted to f32.
template <class F>
void visit_computed(DType dtype, const F& f) {
  if (dtype == DType::f64) return f.template operator()<double>();
  f.template operator()<float>();
}

// to += x, rounded once.
template <class T, class X>
DIST_HD void accumulate(T& to, X x) {
  using C = ComputeType<T>;
  to = static_cast<T>(static_cast<C>(to) + static_cast<C>(x));
}

template <class T>
T* elements(const Tensor& t) {
  return static_cast<T*>(t.raw());
}

// null for an undefined tensor
template <class T>
T* elements_or_null(const Tensor& t) {
  return t.is_defined() ? elements<T>(t) : nullptr;
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
