// The kernels of kernels.h on a GPU, as cpu_kernels.h has them on a CPU. Each call enqueues on `stream` of
// the device that is current for the thread; arguments have been checked. The arithmetic is that of
// functors.h, without fused multiply-adds: the same bits as on the CPU (exp aside).
#pragma once

#include <span>

#include <cuda_runtime.h>

#include "dist/core/device/part_views.h"
#include "dist/core/kernels.h"

namespace dist::cuda_kernels {

// The most inputs, and the most outputs, of one reduce_many: their addresses are a kernel's argument.
inline constexpr std::size_t most_views = 64;

// Loads the kernels of all calls below without launching them.
void load_kernels(Device device);

void reduce_many(cudaStream_t stream, std::span<const TensorView> outs, std::span<const TensorView> ins,
                 ReduceOp op);
// The next two take a list in one launch, or in as few as its addresses need: a launch has room for 64 parts
// and 232 addresses. Parts without elements are left out; all others of a reduce_parts have one dtype.
void copy_parts(cudaStream_t stream, std::span<const PartViews> parts);
void reduce_parts(cudaStream_t stream, std::span<const PartViews> parts, ReduceOp op);
void fill(cudaStream_t stream, TensorView view, double value);
void scale(cudaStream_t stream, TensorView view, double factor);
void divide(cudaStream_t stream, TensorView view, std::int64_t divisor);
void convert(cudaStream_t stream, TensorView to, TensorView from);
void unary(cudaStream_t stream, TensorView out, TensorView in, UnaryOp op);
void binary(cudaStream_t stream, TensorView out, TensorView a, TensorView b, BinaryOp op);
void add_scaled(cudaStream_t stream, TensorView acc, TensorView in, double alpha);

}  // namespace dist::cuda_kernels
