// BatchNorm2d (Ioffe, Szegedy 2015): each channel with mean 0 and variance 1 over the batch, then scaled and
// shifted.
#pragma once

#include <string>

#include "dist/nn/checks.h"
#include "dist/nn/module.h"
#include "dist/nn/ops.h"

namespace dist::nn {

struct BatchNorm2dOptions {
  double eps = 1e-5;      // added to the variance
  double momentum = 0.1;  // of the new in the running mean and variance
};

// Input and output [batch, features, h, w]: y = (x - mean) / sqrt(variance + eps) * weight + bias; weight
// (ones) and bias (zeros) [features]. In training, mean and variance are the batch's; buffers running_mean
// (zeros) and running_var (ones, unbiased) take them up by the momentum, num_batches_tracked [] i64 counts.
// In evaluation, the running ones. Ranks keep their own: DistributedDataParallel brings buffers together.
class BatchNorm2d : public Module {
 public:
  // Error{invalid_argument} for features below 1.
  explicit BatchNorm2d(std::int64_t features, BatchNorm2dOptions options = {});

  // In training Error{invalid_argument} for less than two values a channel: they have no variance.
  Tensor forward(const Tensor& input) override;
  Tensor backward(const Tensor& grad_output) override;
  std::string str() const override;

 private:
  struct Forward {
    Tensor input;
    NormTensors norm;
    bool training;
  };
  std::int64_t features_;
  BatchNorm2dOptions options_;
  Parameter weight_, bias_;
  Buffer running_mean_, running_var_, num_batches_tracked_;
  Kept<Forward> kept_;
};

}  // namespace dist::nn
