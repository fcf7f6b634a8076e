// Work on views, done where they are: each call dispatches on the device of its first argument. On a CPU the
// work is done when the call returns; on a GPU it is enqueued on the current stream.
//
// The views of one call have equal counts and dtypes unless stated otherwise; violations are internal errors.
// An output either is exactly the memory of an input or does not overlap it; otherwise the call throws
// Error{invalid_argument}.
#pragma once

#include <span>

#include "dist/core/view.h"

namespace dist {

// acc[i] = op(acc[i], in[i]); f16 and bf16 are computed in f32. `op` is a base operation: avg and premul_sum
// are a sum with divide() after it or scale() before it, and are refused here.
void reduce(TensorView acc, TensorView in, ReduceOp op);

// Every outs[k][i] = op(ins[0][i], ins[1][i], ...), in that order; f16 and bf16 are accumulated in f32 and
// rounded once. Here avg is an operation too: the sum divided by the number of inputs. An output may be an
// input.
void reduce_many(std::span<const TensorView> outs, std::span<const TensorView> ins, ReduceOp op);

// to[i] = from[i]. The two may be on different devices.
void copy(const TensorView& to, const TensorView& from);
// Every outs[k][i] = in[i]. On a CPU `in` is read from memory once, whatever the number of outputs.
void copy_to_all(std::span<const TensorView> outs, const TensorView& in);

void fill(TensorView view, double value);
// view[i] *= factor (floating point dtypes).
void scale(TensorView view, double factor);
// view[i] /= divisor, which must be positive; integers truncate towards zero. Not defined on bool.
void divide(TensorView view, std::int64_t divisor);

// to[i] = from[i] across dtypes, on one device. Floating point to integer truncates and saturates, NaN
// becomes 0.
void convert(TensorView to, TensorView from);

// The arithmetic of Tensor. `out` may be one of the inputs. Not defined on bool.
enum class UnaryOp : std::uint8_t { exp, sqrt };                         // floating point dtypes
enum class BinaryOp : std::uint8_t { add, subtract, multiply, divide };  // divide: floating point dtypes
void unary(TensorView out, TensorView in, UnaryOp op);
void binary(TensorView out, TensorView a, TensorView b, BinaryOp op);
// acc[i] += alpha * in[i]; integers take alpha's integral part.
void add_scaled(TensorView acc, TensorView in, double alpha);

}  // namespace dist
