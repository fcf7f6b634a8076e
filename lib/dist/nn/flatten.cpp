#include "dist/nn/flatten.h"

#include "dist/core/shape.h"

namespace dist::nn {

namespace {

Shape flattened(const Shape& shape) { return {shape[0], product(Shape(shape.begin() + 1, shape.end()))}; }

}  // namespace

Tensor Flatten::run_forward(const Tensor& input) {
  check_input(str(), input);
  if (input.dim() < 1) fail_shape(str(), input, "[batch, ...]");
  input_.keep(input);
  return input.view(flattened(input.shape()));
}

Tensor Flatten::run_backward(const Tensor& grad_output) {
  const Tensor input = input_.take();
  check_grad_output(str(), grad_output, flattened(input.shape()), input);
  return grad_output.view(input.shape());
}

}  // namespace dist::nn
