#include "dist/nn/relu.h"

#include "dist/nn/ops.h"

namespace dist::nn {

Tensor ReLU::run_forward(const Tensor& input) {
  check_input(str(), input);
  Tensor out = empty_like(input);
  ops_for(input.device()).relu(out, input);
  output_.keep(out);
  return out;
}

Tensor ReLU::run_backward(const Tensor& grad_output) {
  const Tensor output = output_.take();
  check_grad_output(str(), grad_output, output.shape(), output);
  Tensor grad_input = empty_like(output);
  ops_for(output.device()).relu_backward(grad_input, grad_output, output);
  return grad_input;
}

}  // namespace dist::nn
