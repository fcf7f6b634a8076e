// Ops on the CPU as plain loops, in f32 and f64: the reference for the others, and what computes where there
// is nothing faster.
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
  void max_pool(Tensor out, Tensor winners, const Tensor& in, const Windows& windows) const override;
  void max_pool_backward(Tensor grad_in, const Tensor& grad_out, const Tensor& winners) const override;
  void batch_norm(Tensor out, const Tensor& in, NormTensors norm, const NormOptions& options) const override;
  void batch_norm_backward(NormGrads grads, const Tensor& grad_out, const Tensor& in, const NormTensors& norm,
                           bool training) const override;
  std::unique_ptr<Convolution> make_convolution(const ConvolutionShape& shape, DType dtype) const override;
  void sgd(Tensor value, const Tensor& grad, Tensor velocity, const SgdStep& step) const override;
  void adam(Tensor value, const Tensor& grad, Tensor m, Tensor v, const AdamStep& step) const override;
};

}  // namespace dist::nn
