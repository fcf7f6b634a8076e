#include "dist/nn/activations.h"

#include "dist/nn/ops.h"

namespace dist::nn {

std::string Activate::str() const {
  switch (activation_) {
    case Activation::gelu: return "GELU()";
    case Activation::gelu_tanh: return "GELU(tanh)";
    case Activation::silu: return "SiLU()";
  }
  return "";
}

Tensor Activate::run_forward(const Tensor& input) {
  check_input(str(), input);
  Tensor out = empty_like(input);
  ops_for(input.device()).activate(out, input, activation_);
  input_.keep(input);
  return out;
}

Tensor Activate::run_backward(const Tensor& grad_output) {
  const Tensor input = input_.take();
  check_grad_output(str(), grad_output, input.shape(), input);
  Tensor grad_input = empty_like(input);
  ops_for(input.device()).activate_backward(grad_input, grad_output, input, activation_);
  return grad_input;
}

}  // namespace dist::nn
