// The arithmetic of every kernel on one pair of elements, written once: the CPU's loops and the GPU's kernels
// use the same functors, so testing them on the CPU tests them for both. Then the conversion of an element to
// another dtype, and visit_op(), from a ReduceOp to its functor.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "dist/core/host_device.h"
#include "dist/core/types.h"

namespace dist {

// The type in which elements of T are computed: f32 for f16 and bf16, T itself otherwise.
template <class T>
using ComputeType = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

template <class T>
DIST_HD bool is_nan(T value) {
  return value != value;  // NOLINT(misc-redundant-expression)
}

namespace functors {

// Signed integers wrap around, as the hardware's do; computing them as unsigned keeps that defined in C++.
template <class T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>,
                                             std::make_unsigned<T>, std::type_identity<T>>::type;

struct Sum {
  template <class T>
  DIST_HD T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a | b;
    else
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};

struct Product {
  template <class T>
  DIST_HD T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a & b;
    else
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};

// min and max: if one element is NaN, so is the result.
struct Min {
  template <class T>
  DIST_HD T operator()(T a, T b) const {
    return a < b || is_nan(a) ? a : b;
  }
};

struct Max {
  template <class T>
  DIST_HD T operator()(T a, T b) const {
    return a > b || is_nan(a) ? a : b;
  }
};

struct BitAnd {
  template <std::integral T>
  DIST_HD T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};

struct BitOr {
  template <std::integral T>
  DIST_HD T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};

struct BitXor {
  template <std::integral T>
  DIST_HD T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

struct Difference {
  template <class T>
  DIST_HD T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  }
};

struct Quotient {
  template <std::floating_point T>
  DIST_HD T operator()(T a, T b) const {
    return a / b;
  }
};

}  // namespace functors

// An element of type To from a value of any other type. Floating point to integer truncates and saturates
// (NaN becomes 0); integer to a narrower integer wraps; anything to bool is "not zero".
template <class To, class From>
DIST_HD To convert_element(const From& from) {
  using C = ComputeType<From>;
  const C value = static_cast<C>(from);
  if constexpr (std::is_same_v<To, bool>) {
    return value != C{};
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<C>) {
    using Limits = std::numeric_limits<To>;
    if (is_nan(value)) return 0;
    if (value <= static_cast<C>(Limits::min())) return Limits::min();
    if (value >= static_cast<C>(Limits::max())) return Limits::max();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(static_cast<ComputeType<To>>(value));
  }
}

// Calls f(functor) with the functor of an operation; avg and premul_sum add like sum.
template <class F>
decltype(auto) visit_op(ReduceOp::Kind kind, F&& f) {
  switch (kind) {
    case ReduceOp::Kind::sum:
    case ReduceOp::Kind::avg:
    case ReduceOp::Kind::premul_sum: return f(functors::Sum{});
    case ReduceOp::Kind::product: return f(functors::Product{});
    case ReduceOp::Kind::min: return f(functors::Min{});
    case ReduceOp::Kind::max: return f(functors::Max{});
    case ReduceOp::Kind::band: return f(functors::BitAnd{});
    case ReduceOp::Kind::bor: return f(functors::BitOr{});
    case ReduceOp::Kind::bxor: return f(functors::BitXor{});
  }
  __builtin_unreachable();
}

}  // namespace dist
