// reduce_many: the kernel of the collectives. Each thread takes 16 bytes of every input, reduces them in the
// inputs' order and writes the result to every output; inputs and outputs may be in the memory of other
// ranks.
#include <type_traits>

#include "dist/core/device/cuda/kernels.h"
#include "dist/core/device/cuda/packs.cuh"

namespace dist::cuda_kernels {

namespace {

struct Addresses {
  const std::byte* ins[most_views];
  std::byte* outs[most_views];
  int n_ins, n_outs;
};

constexpr int in_flight = 4;  // inputs whose loads are under way before the first is used

// Elements `Unit` at position i: a pack, or a single one.
template <class Unit>
__device__ const Unit& load(const std::byte* from, std::int64_t i) {
  return reinterpret_cast<const Unit*>(from)[i];
}

template <class T, int width>
struct alignas(width * sizeof(T)) Unit {
  T at[width];
};

template <class C>
__device__ C divided(C value, std::int64_t divisor) {
  if constexpr (std::is_same_v<C, bool>)
    return value;
  else if constexpr (std::is_floating_point_v<C>)
    return value / static_cast<C>(divisor);
  else
    return static_cast<C>(value / divisor);
}

template <class T, int width, class Op>
__device__ void reduce_at(const Addresses& at, std::int64_t i, Op op, std::int64_t divisor) {
  using C = ComputeType<T>;
  using U = Unit<T, width>;
  C acc[width];
  for (int first = 0; first < at.n_ins; first += in_flight) {
    U loaded[in_flight];
#pragma unroll
    for (int j = 0; j < in_flight; ++j)
      if (first + j < at.n_ins) loaded[j] = load<U>(at.ins[first + j], i);
#pragma unroll
    for (int j = 0; j < in_flight; ++j) {
      if (first + j >= at.n_ins) break;
#pragma unroll
      for (int k = 0; k < width; ++k) {
        const C next = static_cast<C>(loaded[j].at[k]);
        acc[k] = first + j == 0 ? next : op(acc[k], next);
      }
    }
  }
  U result;
#pragma unroll
  for (int k = 0; k < width; ++k)
    result.at[k] = static_cast<T>(divisor > 1 ? divided(acc[k], divisor) : acc[k]);
  for (int j = 0; j < at.n_outs; ++j) reinterpret_cast<U*>(at.outs[j])[i] = result;
}

template <class T, class Op>
__global__ void reduce_kernel(const Addresses at, std::int64_t packs, std::int64_t count, Op op,
                              std::int64_t divisor) {
  constexpr int width = Pack<T>::size;
  for (std::int64_t i = first_index(); i < packs; i += grid_stride()) reduce_at<T, width>(at, i, op, divisor);
  for (std::int64_t i = packs * width + first_index(); i < count; i += grid_stride())
    reduce_at<T, 1>(at, i, op, divisor);
}

bool all_begin_packs(std::span<const TensorView> views) {
  return std::all_of(views.begin(), views.end(),
                     [](const TensorView& v) { return v.count == 0 || packs_of(v) > 0; });
}

}  // namespace

void reduce_many(cudaStream_t stream, std::span<const TensorView> outs, std::span<const TensorView> ins,
                 ReduceOp op) {
  Addresses at{};
  at.n_ins = static_cast<int>(ins.size());
  at.n_outs = static_cast<int>(outs.size());
  for (std::size_t j = 0; j < ins.size(); ++j) at.ins[j] = ins[j].data;
  for (std::size_t j = 0; j < outs.size(); ++j) at.outs[j] = outs[j].data;
  const TensorView& first = ins[0];
  const std::int64_t packs = all_begin_packs(ins) && all_begin_packs(outs) ? packs_of(first) : 0;
  const bool averages = op.kind() == ReduceOp::Kind::avg;
  const std::int64_t divisor = averages ? at.n_ins : 1;
  const int blocks = blocks_for(packs > 0 ? packs : first.count);
  visit_op(op.kind(), [&]<class Op>(Op functor) {
    visit_dtype(first.dtype, [&]<class T>() {
      using C = ComputeType<T>;
      if constexpr (std::is_invocable_v<Op, C, C>)
        launch("reduce_many", first, blocks, stream, reduce_kernel<T, Op>, at, packs, first.count, functor,
               divisor);
      else
        no_such_kernel("reduce_many", first.dtype);
    });
  });
}

}  // namespace dist::cuda_kernels
