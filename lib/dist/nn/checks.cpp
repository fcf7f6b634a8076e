#include "dist/nn/checks.h"

#include "dist/core/shape.h"

namespace dist::nn {

namespace {

void check_like(const std::string& layer, std::string_view what, const Tensor& given, const Tensor& own) {
  if (given.dtype() != own.dtype() || given.device() != own.device())
    fail(Errc::invalid_argument, "{}: the {} is {} on {}, {} on {} is expected; convert one with .to()",
         layer, what, name(given.dtype()), given.device().str(), name(own.dtype()), own.device().str());
}

}  // namespace

DType compute_dtype(DType dtype) { return dtype == DType::bf16 ? DType::f32 : dtype; }

bool is_trainable(DType dtype) { return dtype == DType::bf16 || dtype == DType::f32 || dtype == DType::f64; }

void check_input(const std::string& layer, const Tensor& input) {
  if (!input.is_defined())
    fail(Errc::invalid_argument, "{}: the input is undefined (a default-constructed tensor)", layer);
  if (!is_trainable(input.dtype()))
    fail(Errc::invalid_argument,
         "{}: the input is {}; layers compute in bf16, f32 or f64, convert with .to()", layer,
         name(input.dtype()));
}

void check_input(const std::string& layer, const Tensor& input, const Tensor& weight) {
  check_input(layer, input);
  check_like(layer, "input", input, weight);
}

void fail_shape(const std::string& layer, const Tensor& input, const std::string& expected) {
  fail(Errc::invalid_argument, "{}: the input is {}, {} is expected", layer, to_string(input.shape()),
       expected);
}

void check_grad_output(const std::string& layer, const Tensor& grad_output, const Shape& output,
                       const Tensor& like) {
  if (!grad_output.is_defined() || grad_output.shape() != output)
    fail(Errc::invalid_argument, "{}: backward() was given a gradient of shape {}, that of the output is {}",
         layer, grad_output.is_defined() ? to_string(grad_output.shape()) : "undefined", to_string(output));
  check_like(layer, "gradient", grad_output, like);
}

}  // namespace dist::nn
