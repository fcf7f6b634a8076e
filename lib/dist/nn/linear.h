// Linear: y = x W^T + b.
#pragma once

#include <string>

#include "dist/nn/checks.h"
#include "dist/nn/module.h"

namespace dist::nn {

struct LinearOptions {
  bool bias = true;
};

// Input [..., in], output [..., out]; weight [out, in], bias [out]. Initial values as in torch: uniform
// within +-1 / sqrt(in).
class Linear : public Module {
 public:
  // Throws Error{invalid_argument} for sizes below 1.
  Linear(std::int64_t in, std::int64_t out, LinearOptions options = {});

  void skip_input_grad() override { wants_input_grad_ = false; }
  std::string str() const override;

 private:
  Tensor run_forward(const Tensor& input) override;
  Tensor run_backward(const Tensor& grad_output) override;
  Tensor rows_of(const Tensor& t, std::int64_t width) const;

  std::int64_t in_, out_;
  bool has_bias_;
  bool wants_input_grad_ = true;
  Parameter weight_, bias_;
  Kept<Tensor> input_{*this};
};

}  // namespace dist::nn
