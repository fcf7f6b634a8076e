// LayerNorm and RMSNorm: each row of the last axis is brought to one scale. As torch.nn.LayerNorm and
// torch.nn.RMSNorm over the last axis.
#pragma once

#include <string>

#include "dist/nn/checks.h"
#include "dist/nn/module.h"
#include "dist/nn/row_ops.h"

namespace dist::nn {

struct LayerNormOptions {
  double eps = 1e-5;
  bool bias = true;
};

// Input and output [..., width]: (x - mean) / sqrt(variance + eps) * weight + bias, with the row's mean and
// its biased variance; weight [width], initially 1, bias [width], initially 0.
class LayerNorm : public Module {
 public:
  // Throws Error{invalid_argument} for a width below 1.
  explicit LayerNorm(std::int64_t width, LayerNormOptions options = {});
  std::string str() const override;  // "LayerNorm(128)"

 protected:
  LayerNorm(std::int64_t width, LayerNormOptions options, bool centred);

 private:
  Tensor run_forward(const Tensor& input) override;
  Tensor run_backward(const Tensor& grad_output) override;

  LayerNormOptions options_;
  bool centred_;  // LayerNorm subtracts the mean, RMSNorm does not
  Parameter weight_, bias_;
  struct Forward {
    Tensor input;
    RowNorm norm;
  };
  Kept<Forward> forwards_{*this};
};

// x / sqrt(mean of x^2 + eps) * weight; no bias.
class RMSNorm final : public LayerNorm {
 public:
  explicit RMSNorm(std::int64_t width, double eps = 1e-5)
      : LayerNorm(width, {.eps = eps, .bias = false}, false) {}
};

}  // namespace dist::nn
