// The kernels of kernels.h for memory that the CPU reaches. Arguments have been checked; `device` is ignored.
#pragma once

#include "dist/core/kernels.h"

namespace dist::cpu_kernels {

void reduce(TensorView acc, TensorView in, ReduceOp op);
void reduce_many(std::span<const TensorView> outs, std::span<const TensorView> ins, ReduceOp op);
void fill(TensorView view, double value);
void scale(TensorView view, double factor);
void divide(TensorView view, std::int64_t divisor);
void convert(TensorView to, TensorView from);
void unary(TensorView out, TensorView in, UnaryOp op);
void binary(TensorView out, TensorView a, TensorView b, BinaryOp op);
void add_scaled(TensorView acc, TensorView in, double alpha);

}  // namespace dist::cpu_kernels
