#include "dist/core/cpu_kernels.h"

#include <cmath>

#include "dist/core/fail.h"
#include "dist/core/functors.h"
#include "dist/core/simd.h"

namespace dist::cpu_kernels {

namespace {

template <class T>
T* elements(const TensorView& view) {
  return reinterpret_cast<T*>(view.data);
}

[[noreturn]] void no_such_kernel(std::string_view kernel, DType dtype) {
  fail(Errc::internal, "kernel {} on {} elements does not exist; its caller must refuse it", kernel,
       name(dtype));
}

// out[i] = f(in[i])
template <class To, class From, class F>
void map(To* out, const From* in, std::int64_t count, F f) {
  vectorised([=] {
    for (std::int64_t i = 0; i < count; ++i) out[i] = f(in[i]);
  });
}

// out[i] = f(a[i], b[i])
template <class T, class F>
void zip(T* out, const T* a, const T* b, std::int64_t count, F f) {
  vectorised([=] {
    for (std::int64_t i = 0; i < count; ++i) out[i] = f(a[i], b[i]);
  });
}

template <class T>
inline constexpr bool is_arithmetic = !std::is_same_v<T, bool>;
template <class T>
inline constexpr bool is_float = std::is_floating_point_v<ComputeType<T>>;

template <class Op>
void zip_views(TensorView out, TensorView a, TensorView b, Op op, std::string_view kernel) {
  visit_dtype(out.dtype, [&]<class T>() {
    using C = ComputeType<T>;
    if constexpr (std::is_invocable_v<Op, C, C>) {
      zip(elements<T>(out), elements<T>(a), elements<T>(b), out.count,
          [op](T x, T y) { return combine(op, x, y); });
    } else {
      no_such_kernel(kernel, out.dtype);
    }
  });
}

}  // namespace

void reduce(TensorView acc, TensorView in, ReduceOp op) {
  visit_op(op.kind(), [&](auto functor) { zip_views(acc, acc, in, functor, name(op.kind())); });
}

void fill(TensorView view, double value) {
  visit_dtype(view.dtype, [&]<class T>() {
    const T element = convert_element<T>(value);
    T* out = elements<T>(view);
    for (std::int64_t i = 0; i < view.count; ++i) out[i] = element;
  });
}

void scale(TensorView view, double factor) {
  visit_dtype(view.dtype, [&]<class T>() {
    if constexpr (is_float<T>) {
      using C = ComputeType<T>;
      const auto by = static_cast<C>(factor);
      map(elements<T>(view), elements<T>(view), view.count,
          [by](T x) { return static_cast<T>(static_cast<C>(x) * by); });
    } else {
      no_such_kernel("scale", view.dtype);
    }
  });
}

void divide(TensorView view, std::int64_t divisor) {
  visit_dtype(view.dtype, [&]<class T>() {
    if constexpr (is_arithmetic<T>) {
      using C = std::conditional_t<is_float<T>, ComputeType<T>, std::int64_t>;
      const auto by = static_cast<C>(divisor);
      map(elements<T>(view), elements<T>(view), view.count,
          [by](T x) { return static_cast<T>(static_cast<C>(x) / by); });
    } else {
      no_such_kernel("divide", view.dtype);
    }
  });
}

void convert(TensorView to, TensorView from) {
  visit_dtype(to.dtype, [&]<class To>() {
    visit_dtype(from.dtype, [&]<class From>() {
      map(elements<To>(to), elements<From>(from), to.count, [](From x) { return convert_element<To>(x); });
    });
  });
}

void unary(TensorView out, TensorView in, UnaryOp op) {
  visit_dtype(out.dtype, [&]<class T>() {
    if constexpr (is_float<T>) {
      using C = ComputeType<T>;
      switch (op) {
        case UnaryOp::exp:
          return map(elements<T>(out), elements<T>(in), out.count,
                     [](T x) { return static_cast<T>(std::exp(static_cast<C>(x))); });
        case UnaryOp::sqrt:
          return map(elements<T>(out), elements<T>(in), out.count,
                     [](T x) { return static_cast<T>(std::sqrt(static_cast<C>(x))); });
      }
    } else {
      no_such_kernel("unary", out.dtype);
    }
  });
}

void binary(TensorView out, TensorView a, TensorView b, BinaryOp op) {
  switch (op) {
    case BinaryOp::add: return zip_views(out, a, b, functors::Sum{}, "add");
    case BinaryOp::subtract: return zip_views(out, a, b, functors::Difference{}, "subtract");
    case BinaryOp::multiply: return zip_views(out, a, b, functors::Product{}, "multiply");
    case BinaryOp::divide: return zip_views(out, a, b, functors::Quotient{}, "divide");
  }
}

void add_scaled(TensorView acc, TensorView in, double alpha) {
  visit_dtype(acc.dtype, [&]<class T>() {
    if constexpr (is_arithmetic<T>) {
      using C = ComputeType<T>;
      const auto by =
          static_cast<C>(convert_element<std::conditional_t<is_float<T>, C, std::int64_t>>(alpha));
      zip(elements<T>(acc), elements<T>(acc), elements<T>(in), acc.count, [by](T x, T y) {
        return static_cast<T>(functors::Sum{}(static_cast<C>(x), functors::Product{}(by, static_cast<C>(y))));
      });
    } else {
      no_such_kernel("add_scaled", acc.dtype);
    }
  });
}

}  // namespace dist::cpu_kernels
