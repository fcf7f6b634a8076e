// Linear: y = x W^T + b.
#pragma once

#include <string>

#include "dist/nn/checks.h"
#include "dist/nn/module.h"

namespace dist::nn {

struct LinearOptions {
  bool bias = true;
};

// Input [batch, in], output [batch, out]; weight [out, in], bias [out]. Initial values as in torch: uniform
// within +-1 / sqrt(in).
class Linear : public Module {
 public:
  // Throws Error{invalid_argument} for sizes below 1.
  Linear(std::int64_t in, std::int64_t out, LinearOptions options = {});

  Tensor forward(const Tensor& input) override;
  Tensor backward(const Tensor& grad_output) override;
  void skip_input_grad() override { wants_input_grad_ = false; }
  std::string str() const override;

 private:
  std::int64_t in_, out_;
  bool has_bias_;
  bool wants_input_grad_ = true;
  Parameter weight_, bias_;
  Kept<Tensor> input_;
};

}  // namespace dist::nn
