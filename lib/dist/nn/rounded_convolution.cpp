#include "dist/nn/rounded_convolution.h"

#include <utility>

namespace dist::nn {

namespace {

Tensor in_f32(const Tensor& tensor) { return tensor.is_defined() ? tensor.to(DType::f32) : tensor; }

class RoundedConvolution final : public Convolution {
 public:
  explicit RoundedConvolution(std::unique_ptr<Convolution> inner) : inner_(std::move(inner)) {}

  Tensor forward(const Tensor& input, const Tensor& weight, const Tensor& bias) override {
    return inner_->forward(in_f32(input), in_f32(weight), in_f32(bias)).to(DType::bf16);
  }
  void forget_input() override { inner_->forget_input(); }
  void backward_parameters(Tensor grad_weight, Tensor grad_bias, const Tensor& grad_output) override {
    const Tensor of_weight = in_f32(grad_weight), of_bias = in_f32(grad_bias);
    inner_->backward_parameters(of_weight, of_bias, in_f32(grad_output));
    grad_weight.copy_(of_weight);
    if (grad_bias.is_defined()) grad_bias.copy_(of_bias);
  }
  Tensor backward_input(const Tensor& grad_output, const Tensor& weight) override {
    return inner_->backward_input(in_f32(grad_output), in_f32(weight)).to(DType::bf16);
  }

 private:
  std::unique_ptr<Convolution> inner_;
};

}  // namespace

std::unique_ptr<Convolution> make_rounded_convolution(std::unique_ptr<Convolution> in_f32) {
  return std::make_unique<RoundedConvolution>(std::move(in_f32));
}

}  // namespace dist::nn
