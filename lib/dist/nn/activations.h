// GELU and SiLU, element by element. As torch.nn.GELU and torch.nn.SiLU.
#pragma once

#include <string>

#include "dist/nn/checks.h"
#include "dist/nn/module.h"
#include "dist/nn/row_ops.h"

namespace dist::nn {

// An activation by its name; GELU and SiLU are its short forms.
class Activate : public Module {
 public:
  explicit Activate(Activation activation) : activation_(activation) {}
  std::string str() const override;

 private:
  Tensor run_forward(const Tensor& input) override;
  Tensor run_backward(const Tensor& grad_output) override;

  Activation activation_;
  Kept<Tensor> input_{*this};
};

struct GeluOptions {
  bool tanh = false;  // the approximation by tanh, as in GPT-2 (Hendrycks, Gimpel 2016)
};
// x Phi(x), with the distribution function Phi of the standard normal distribution.
class GELU final : public Activate {
 public:
  explicit GELU(GeluOptions options = {})
      : Activate(options.tanh ? Activation::gelu_tanh : Activation::gelu) {}
};

// x / (1 + exp(-x))
class SiLU final : public Activate {
 public:
  SiLU() : Activate(Activation::silu) {}
};

}  // namespace dist::nn
