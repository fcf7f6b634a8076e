// Ops on the CPU as plain loops, in f32 and f64: what the others are compared with, and what computes where
// there is nothing faster.
#pragma once

#include "dist/nn/ops.h"

namespace dist::nn {

class PlainOps : public Ops {
 public:
  void matmul(Tensor out, Matrix a, Matrix b, bool adds) const override;
  void add_channels(Tensor out, const Tensor& of_channels) const override;
  void add_channel_sums(Tensor of_channels, const Tensor& in) const override;
  void relu(Tensor out, const Tensor& in) const override;
  void relu_backward(Tensor out, const Tensor& grad, const Tensor& result) const override;
  void sgd(Tensor value, const Tensor& grad, Tensor velocity, const SgdStep& step) const override;
};

}  // namespace dist::nn
