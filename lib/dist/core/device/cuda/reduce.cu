// reduce_parts, and reduce_many, which is one part: the kernel of the collectives. Each thread takes 16 bytes
// of every input of a part, reduces them in the inputs' order and writes the result to every output; inputs
// and outputs may be in the memory of other ranks.
#include <type_traits>

#include "dist/core/device/cuda/kernels.h"
#include "dist/core/device/cuda/part_table.cuh"

namespace dist::cuda_kernels {

namespace {

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
__device__ void reduce_at(const PartOfBlock& at, std::int64_t i, Op op, std::int64_t divisor) {
  using C = ComputeType<T>;
  using U = Unit<T, width>;
  const int n_ins = at.part.n_ins;
  C acc[width];
  for (int first = 0; first < n_ins; first += in_flight) {
    U loaded[in_flight];
#pragma unroll
    for (int j = 0; j < in_flight; ++j)
      if (first + j < n_ins) loaded[j] = load<U>(at.in(first + j), i);
#pragma unroll
    for (int j = 0; j < in_flight; ++j) {
      if (first + j >= n_ins) break;
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
  for (int j = 0; j < at.part.n_outs; ++j) reinterpret_cast<U*>(at.out(j))[i] = result;
}

// A part whose accesses are 16 bytes wide has packs, and the others are reduced element by element.
template <class T, class Op>
__global__ void reduce_kernel(const __grid_constant__ PartTable table, Op op, bool averages) {
  constexpr int width = Pack<T>::size;
  const PartOfBlock at = part_of_block(table);
  const std::int64_t count = at.part.size, packs = at.part.width == 16 ? count / width : 0;
  const std::int64_t divisor = averages ? at.part.n_ins : 1;
  for (std::int64_t i = at.first; i < packs; i += at.stride) reduce_at<T, width>(at, i, op, divisor);
  for (std::int64_t i = packs * width + at.first; i < count; i += at.stride)
    reduce_at<T, 1>(at, i, op, divisor);
}

bool all_begin_packs(std::span<const TensorView> views) {
  return std::ranges::all_of(
      views, [](const TensorView& v) { return reinterpret_cast<std::uintptr_t>(v.data) % 16 == 0; });
}

}  // namespace

void reduce_parts(cudaStream_t stream, std::span<const PartViews> parts, ReduceOp op) {
  const TensorView& first = parts[0].ins[0];
  const bool averages = op.kind() == ReduceOp::Kind::avg;
  visit_op(op.kind(), [&]<class Op>(Op functor) {
    visit_dtype(first.dtype, [&]<class T>() {
      using C = ComputeType<T>;
      if constexpr (std::is_invocable_v<Op, C, C>) {
        const auto launch_table = [&](const PartTable& table, int blocks) {
          launch("reduce_parts", first, blocks, stream, reduce_kernel<T, Op>, table, functor, averages);
        };
        if (only_loads()) return launch_table({}, 1);
        PartLauncher launcher(1, launch_table);
        for (const PartViews& part : parts) {
          const bool packs = all_begin_packs(part.ins) && all_begin_packs(part.outs);
          if (part.ins[0].count > 0)
            launcher.add(part, part.ins[0].count, packs ? sizeof(Pack<T>) : sizeof(T));
        }
        launcher.flush();
      } else {
        no_such_kernel("reduce_parts", first.dtype);
      }
    });
  });
}

void reduce_many(cudaStream_t stream, std::span<const TensorView> outs, std::span<const TensorView> ins,
                 ReduceOp op) {
  const PartViews all{.outs = outs, .ins = ins};
  reduce_parts(stream, {&all, 1}, op);
}

}  // namespace dist::cuda_kernels
