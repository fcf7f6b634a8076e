// The kernels that take one or two inputs and have one output: fill and zip, 16 bytes per thread and access,
// and the functions of elements that zip is called with.
#include <cmath>
#include <type_traits>

#include "dist/core/device/cuda/kernels.h"
#include "dist/core/device/cuda/packs.cuh"

namespace dist::cuda_kernels {

namespace {

template <class T>
inline constexpr bool is_float = std::is_floating_point_v<ComputeType<T>>;

constexpr int in_flight = 4;  // packs per thread that are in flight at once

template <class T>
__global__ void fill_kernel(T* out, std::int64_t packs, std::int64_t count, T value) {
  Pack<T> pack;
  for (T& element : pack.at) element = value;
  for (std::int64_t i = first_index(); i < packs; i += grid_stride())
    reinterpret_cast<Pack<T>*>(out)[i] = pack;
  for (std::int64_t i = packs * Pack<T>::size + first_index(); i < count; i += grid_stride()) out[i] = value;
}

// out[i] = f(a[i], b[i]), computed in the elements' compute type. `out` may be an input.
template <class T, class F>
__global__ void zip_kernel(T* out, const T* a, const T* b, std::int64_t packs, std::int64_t count, F f) {
  using C = ComputeType<T>;
  const auto* const pack_a = reinterpret_cast<const Pack<T>*>(a);
  const auto* const pack_b = reinterpret_cast<const Pack<T>*>(b);
  for (std::int64_t i = first_index(); i < packs; i += in_flight * grid_stride()) {
    Pack<T> x[in_flight], y[in_flight];
#pragma unroll
    for (int j = 0; j < in_flight; ++j) {
      const std::int64_t at = i + j * grid_stride();
      if (at < packs) x[j] = pack_a[at], y[j] = pack_b[at];
    }
#pragma unroll
    for (int j = 0; j < in_flight; ++j) {
      const std::int64_t at = i + j * grid_stride();
      if (at >= packs) break;
      for (int k = 0; k < Pack<T>::size; ++k)
        x[j].at[k] = static_cast<T>(f(static_cast<C>(x[j].at[k]), static_cast<C>(y[j].at[k])));
      reinterpret_cast<Pack<T>*>(out)[at] = x[j];
    }
  }
  for (std::int64_t i = packs * Pack<T>::size + first_index(); i < count; i += grid_stride())
    out[i] = static_cast<T>(f(static_cast<C>(a[i]), static_cast<C>(b[i])));
}

template <class T, class F>
void zip(const char* name, cudaStream_t stream, const TensorView& out, const TensorView& a,
         const TensorView& b, F f) {
  const std::int64_t packs = packs_of(out, a, b);
  launch(name, out, blocks_for(packs > 0 ? packs / in_flight + 1 : out.count), stream, zip_kernel<T, F>,
         elements<T>(out), elements<T>(a), elements<T>(b), packs, out.count, f);
}

// Functions of the first argument alone, for zip(out, in, in): its second load hits the cache.
template <class C>
struct Scale {
  C by;
  __device__ C operator()(C x, C) const { return x * by; }
};

// `By`: the compute type for floating point, otherwise the 64-bit integer.
template <class C, class By>
struct Divide {
  By by;
  __device__ C operator()(C x, C) const { return static_cast<C>(x / by); }
};

template <class C>
struct Exp {
  __device__ C operator()(C x, C) const { return exp(x); }
};

template <class C>
struct Sqrt {
  __device__ C operator()(C x, C) const { return sqrt(x); }
};

template <class C>
struct AddScaled {
  C by;
  __device__ C operator()(C x, C y) const { return functors::Sum{}(x, functors::Product{}(by, y)); }
};

template <class Op>
void zip_any(cudaStream_t stream, const TensorView& out, const TensorView& a, const TensorView& b, Op op) {
  visit_dtype(out.dtype, [&]<class T>() {
    using C = ComputeType<T>;
    if constexpr (!std::is_same_v<T, bool> && std::is_invocable_v<Op, C, C>)
      zip<T>("binary", stream, out, a, b, op);
    else
      no_such_kernel("binary", out.dtype);
  });
}

}  // namespace

void fill(cudaStream_t stream, TensorView view, double value) {
  const std::int64_t packs = packs_of(view);
  visit_dtype(view.dtype, [&]<class T>() {
    launch("fill", view, blocks_for(packs > 0 ? packs : view.count), stream, fill_kernel<T>,
           elements<T>(view), packs, view.count, convert_element<T>(value));
  });
}

void scale(cudaStream_t stream, TensorView view, double factor) {
  visit_dtype(view.dtype, [&]<class T>() {
    using C = ComputeType<T>;
    if constexpr (is_float<T>)
      zip<T>("scale", stream, view, view, view, Scale<C>{static_cast<C>(factor)});
    else
      no_such_kernel("scale", view.dtype);
  });
}

void divide(cudaStream_t stream, TensorView view, std::int64_t divisor) {
  visit_dtype(view.dtype, [&]<class T>() {
    using C = ComputeType<T>;
    using By = std::conditional_t<is_float<T>, C, std::int64_t>;
    if constexpr (!std::is_same_v<T, bool>)
      zip<T>("divide", stream, view, view, view, Divide<C, By>{static_cast<By>(divisor)});
    else
      no_such_kernel("divide", view.dtype);
  });
}

void unary(cudaStream_t stream, TensorView out, TensorView in, UnaryOp op) {
  visit_dtype(out.dtype, [&]<class T>() {
    using C = ComputeType<T>;
    if constexpr (is_float<T>) {
      switch (op) {
        case UnaryOp::exp: return zip<T>("unary", stream, out, in, in, Exp<C>{});
        case UnaryOp::sqrt: return zip<T>("unary", stream, out, in, in, Sqrt<C>{});
      }
    } else {
      no_such_kernel("unary", out.dtype);
    }
  });
}

void binary(cudaStream_t stream, TensorView out, TensorView a, TensorView b, BinaryOp op) {
  switch (op) {
    case BinaryOp::add: zip_any(stream, out, a, b, functors::Sum{}); break;
    case BinaryOp::subtract: zip_any(stream, out, a, b, functors::Difference{}); break;
    case BinaryOp::multiply: zip_any(stream, out, a, b, functors::Product{}); break;
    case BinaryOp::divide: zip_any(stream, out, a, b, functors::Quotient{}); break;
  }
}

void add_scaled(cudaStream_t stream, TensorView acc, TensorView in, double alpha) {
  visit_dtype(acc.dtype, [&]<class T>() {
    using C = ComputeType<T>;
    if constexpr (!std::is_same_v<T, bool>)
      zip<T>("add_scaled", stream, acc, acc, in,
             AddScaled<C>{
                 static_cast<C>(convert_element<std::conditional_t<is_float<T>, C, std::int64_t>>(alpha))});
    else
      no_such_kernel("add_scaled", acc.dtype);
  });
}

}  // namespace dist::cuda_kernels
