// The loops behind kernels.h: map() and zip(), written so that compilers vectorise them, with detours for
// 16-bit elements; reductions of many inputs, block by block; then the kernels themselves, each by dtype.
#include "dist/core/cpu_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "dist/core/fail.h"
#include "dist/core/functors.h"
#include "dist/core/half_convert.h"
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

template <class T>
inline constexpr bool is_arithmetic = !std::is_same_v<T, bool>;
template <class T>
inline constexpr bool is_float = std::is_floating_point_v<ComputeType<T>>;
template <class T>
inline constexpr bool is_half = is_float<T> && !std::is_same_v<T, ComputeType<T>>;

// The loops below copy what they captured. Otherwise, for all the compiler knows, their stores could change
// the captured pointers and counts, and nothing would be vectorised.

// out[i] = f(in[i])
template <class To, class From, class F>
void map(To* out, const From* in, std::int64_t count, F f) {
  vectorised([=] {
    To* const to = out;
    const From* const from = in;
    const std::int64_t n = count;
    const F g = f;
    DIST_INDEPENDENT_ITERATIONS
    for (std::int64_t i = 0; i < n; ++i) to[i] = g(from[i]);
  });
}

// out[i] = f(a[i], b[i])
template <class T, class F>
void zip(T* out, const T* a, const T* b, std::int64_t count, F f) {
  vectorised([=] {
    T* const to = out;
    const T *const x = a, *const y = b;
    const std::int64_t n = count;
    const F g = f;
    DIST_INDEPENDENT_ITERATIONS
    for (std::int64_t i = 0; i < n; ++i) to[i] = g(x[i], y[i]);
  });
}

// 16-bit elements take a detour: they are converted to a piece of f32 that stays in the first-level cache.
constexpr std::int64_t piece = 512;  // elements

// Like map() and zip(), with f on the elements' compute type.
template <class T, class F>
void map_computed(const TensorView& out, const TensorView& in, F f) {
  T* const to = elements<T>(out);
  const T* const from = elements<T>(in);
  if constexpr (is_half<T>) {
    std::array<float, piece> x;
    for (std::int64_t i = 0; i < out.count; i += piece) {
      const std::int64_t n = std::min(piece, out.count - i);
      to_f32(from + i, x.data(), n);
      map(x.data(), x.data(), n, f);
      from_f32(x.data(), to + i, n);
    }
  } else {
    map(to, from, out.count, f);
  }
}

template <class T, class F>
void zip_computed(const TensorView& out, const TensorView& a, const TensorView& b, F f) {
  T* const to = elements<T>(out);
  if constexpr (is_half<T>) {
    std::array<float, piece> x, y;
    for (std::int64_t i = 0; i < out.count; i += piece) {
      const std::int64_t n = std::min(piece, out.count - i);
      to_f32(elements<T>(a) + i, x.data(), n);
      to_f32(elements<T>(b) + i, y.data(), n);
      zip(x.data(), x.data(), y.data(), n, f);
      from_f32(x.data(), to + i, n);
    }
  } else {
    zip(to, elements<T>(a), elements<T>(b), out.count, f);
  }
}

template <class Op>
void zip_views(TensorView out, TensorView a, TensorView b, Op op, std::string_view kernel) {
  visit_dtype(out.dtype, [&]<class T>() {
    using C = ComputeType<T>;
    if constexpr (std::is_invocable_v<Op, C, C>)
      zip_computed<T>(out, a, b, op);
    else
      no_such_kernel(kernel, out.dtype);
  });
}

}  // namespace

void reduce(TensorView acc, TensorView in, ReduceOp op) {
  visit_op(op.kind(), [&](auto functor) { zip_views(acc, acc, in, functor, name(op.kind())); });
}

namespace {

// The number of elements that are reduced from all inputs and written to all outputs before the next block
// begins: the block and the inputs' parts of it stay in the first-level cache.
template <class T>
constexpr std::int64_t block_of = 8192 / sizeof(ComputeType<T>);

// acc = ins[0][first...] op ins[1][first...] op ...
template <class T, class Op>
void accumulate(ComputeType<T>* acc, std::span<const TensorView> ins, std::int64_t first, std::int64_t n,
                Op op) {
  if constexpr (is_half<T>) {
    std::array<float, block_of<T>> next;
    to_f32(elements<T>(ins[0]) + first, acc, n);
    for (std::size_t j = 1; j < ins.size(); ++j) {
      to_f32(elements<T>(ins[j]) + first, next.data(), n);
      zip(acc, acc, next.data(), n, op);
    }
  } else {
    if (ins.size() == 1) std::copy_n(elements<T>(ins[0]) + first, n, acc);
    if (ins.size() > 1) zip(acc, elements<T>(ins[0]) + first, elements<T>(ins[1]) + first, n, op);
    for (std::size_t j = 2; j < ins.size(); ++j) zip(acc, acc, elements<T>(ins[j]) + first, n, op);
  }
}

template <class T>
void divide_each(ComputeType<T>* acc, std::int64_t n, std::int64_t divisor) {
  using C = ComputeType<T>;
  if constexpr (is_float<T>)
    map(acc, acc, n, [by = static_cast<C>(divisor)](C x) { return x / by; });
  else if constexpr (is_arithmetic<T>)
    map(acc, acc, n, [divisor](C x) { return static_cast<C>(x / divisor); });
}

// For this few elements, blocks and a choice of instructions would cost more than the elements do.
constexpr std::int64_t few = 4;

template <class T, class Op>
void reduce_few(std::span<const TensorView> outs, std::span<const TensorView> ins, Op op) {
  for (std::int64_t i = 0; i < ins[0].count; ++i) {
    T acc = elements<T>(ins[0])[i];
    for (const TensorView& in : ins.subspan(1)) acc = op(acc, elements<T>(in)[i]);
    for (const TensorView& out : outs) elements<T>(out)[i] = acc;
  }
}

template <class T, class Op>
void reduce_many_of(std::span<const TensorView> outs, std::span<const TensorView> ins, Op op, bool averages) {
  using C = ComputeType<T>;
  if constexpr (!is_half<T>)
    if (ins[0].count <= few && !averages) return reduce_few<T>(outs, ins, op);
  constexpr std::int64_t block = block_of<T>;
  std::array<C, block> own;
  // Only if the first output is the first input may it be written while inputs are still being read.
  const bool in_place = !is_half<T> && outs[0].data == ins[0].data;
  for (std::int64_t i = 0; i < ins[0].count; i += block) {
    const std::int64_t n = std::min(block, ins[0].count - i);
    C* acc = own.data();
    if constexpr (!is_half<T>)
      if (in_place) acc = elements<T>(outs[0]) + i;
    accumulate<T>(acc, ins, i, n, op);
    if (averages) divide_each<T>(acc, n, static_cast<std::int64_t>(ins.size()));
    for (std::size_t k = in_place ? 1 : 0; k < outs.size(); ++k) {
      T* const out = elements<T>(outs[k]) + i;
      if constexpr (is_half<T>)
        from_f32(acc, out, n);
      else
        std::memcpy(out, acc, static_cast<std::size_t>(n) * sizeof(T));
    }
  }
}

}  // namespace

void reduce_many(std::span<const TensorView> outs, std::span<const TensorView> ins, ReduceOp op) {
  const bool averages = op.kind() == ReduceOp::Kind::avg;
  visit_op(averages ? ReduceOp::Kind::sum : op.kind(), [&](auto functor) {
    visit_dtype(ins[0].dtype, [&]<class T>() {
      using C = ComputeType<T>;
      if constexpr (std::is_invocable_v<decltype(functor), C, C>)
        reduce_many_of<T>(outs, ins, functor, averages);
      else
        no_such_kernel(name(op.kind()), ins[0].dtype);
    });
  });
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
      map_computed<T>(view, view, [by = static_cast<C>(factor)](C x) { return x * by; });
    } else {
      no_such_kernel("scale", view.dtype);
    }
  });
}

void divide(TensorView view, std::int64_t divisor) {
  visit_dtype(view.dtype, [&]<class T>() {
    if constexpr (is_float<T>) {
      using C = ComputeType<T>;
      map_computed<T>(view, view, [by = static_cast<C>(divisor)](C x) { return x / by; });
    } else if constexpr (is_arithmetic<T>) {
      map_computed<T>(view, view, [divisor](T x) { return static_cast<T>(x / divisor); });
    } else {
      no_such_kernel("divide", view.dtype);
    }
  });
}

void convert(TensorView to, TensorView from) {
  visit_dtype(to.dtype, [&]<class To>() {
    visit_dtype(from.dtype, [&]<class From>() {
      To* const out = elements<To>(to);
      const From* const in = elements<From>(from);
      if constexpr (is_half<From> && std::is_same_v<To, float>)
        to_f32(in, out, to.count);
      else if constexpr (std::is_same_v<From, float> && is_half<To>)
        from_f32(in, out, to.count);
      else
        map(out, in, to.count, [](const From& x) { return convert_element<To>(x); });
    });
  });
}

void unary(TensorView out, TensorView in, UnaryOp op) {
  visit_dtype(out.dtype, [&]<class T>() {
    if constexpr (is_float<T>) {
      using C = ComputeType<T>;
      switch (op) {
        case UnaryOp::exp: return map_computed<T>(out, in, [](C x) { return std::exp(x); });
        case UnaryOp::sqrt: return map_computed<T>(out, in, [](C x) { return std::sqrt(x); });
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
      zip_computed<T>(acc, acc, in,
                      [by](C x, C y) { return functors::Sum{}(x, functors::Product{}(by, y)); });
    } else {
      no_such_kernel("add_scaled", acc.dtype);
    }
  });
}

}  // namespace dist::cpu_kernels
