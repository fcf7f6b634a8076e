// What every layer requires of its arguments, in one wording.
#pragma once

#include <string>

#include "dist/core/fail.h"
#include "dist/core/tensor.h"
#include "dist/nn/kept.h"

namespace dist::nn {

// The dtype of sums and statistics: f32 for bf16, otherwise the elements'.
DType compute_dtype(DType dtype);

// What layers compute in: bf16, f32, f64.
bool is_trainable(DType dtype);

// Requires a layer's input to be of such a dtype.
void check_input(const std::string& layer, const Tensor& input);
// Also requires the dtype and device of the layer's weight.
void check_input(const std::string& layer, const Tensor& input, const Tensor& weight);
// "Linear(8, 16): the input is [4, 7], [..., 8] is expected".
[[noreturn]] void fail_shape(const std::string& layer, const Tensor& input, const std::string& expected);
// Requires the shape, dtype and device of the output.
void check_grad_output(const std::string& layer, const Tensor& grad_output, const Shape& output,
                       const Tensor& like);

}  // namespace dist::nn
