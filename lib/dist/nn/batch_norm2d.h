// BatchNorm2d (Ioffe, Szegedy 2015): normalises each channel to mean 0 and variance 1 over the batch, then
// scales and shifts it.
#pragma once

#include <string>

#include "dist/nn/checks.h"
#include "dist/nn/module.h"
#include "dist/nn/ops.h"

namespace dist::nn {

struct BatchNorm2dOptions {
  double eps = 1e-5;      // added to the variance
  double momentum = 0.1;  // the weight of the new values in the running ones
};

// Input and output [batch, features, h, w]: y = (x - mean) / sqrt(variance + eps) * weight + bias, with
// weight (ones) and bias (zeros) of shape [features]. In training, mean and variance are the batch's; the
// buffers running_mean (zeros) and running_var (ones, unbiased) move towards them by the momentum, and
// num_batches_tracked [] i64 counts the batches. In evaluation, the running values are used. Ranks keep their
// own; DistributedDataParallel broadcasts the buffers.
class BatchNorm2d : public Module {
 public:
  // Throws Error{invalid_argument} for features below 1.
  explicit BatchNorm2d(std::int64_t features, BatchNorm2dOptions options = {});

  // In training, throws Error{invalid_argument} for fewer than two values per channel: they have no variance.
  std::string str() const override;

 private:
  Tensor run_forward(const Tensor& input) override;
  Tensor run_backward(const Tensor& grad_output) override;

  struct Forward {
    Tensor input;
    NormTensors norm;
    bool training;
  };
  std::int64_t features_;
  BatchNorm2dOptions options_;
  Parameter weight_, bias_;
  Buffer running_mean_, running_var_, num_batches_tracked_;
  Kept<Forward> kept_{*this};
};

}  // namespace dist::nn
