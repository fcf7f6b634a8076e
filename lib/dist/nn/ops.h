// What a device must do for the layers (for a transformer: row_ops.h), as a thin table of calls on tensors:
// the layers check, the table computes. Arguments have been checked: shapes fit, and there is one dtype and
// one device. A tensor that is added to is written in place, and is aligned to its elements only. On a CPU
// the work is done when a call returns; on a GPU it is enqueued on the current stream.
#pragma once

#include <memory>

#include "dist/core/tensor.h"
#include "dist/nn/row_ops.h"
#include "dist/nn/windows.h"

namespace dist::nn {

struct SgdStep {
  double lr, momentum, weight_decay;
};

struct AdamStep {
  double lr, beta1, beta2, eps, weight_decay;
  double correction1, correction2;  // 1 - beta^t in step t
};

// What BatchNorm2d computes with; each has shape [c].
struct NormTensors {
  Tensor weight, bias, running_mean, running_var;
  Tensor mean, invstd;  // the last forward's: subtracted, and multiplied by
};
struct NormOptions {
  double eps, momentum;
  bool training;
};

// The convolution of one layer for inputs of one shape. It keeps what the backward calls need from forward().
class Convolution {
 public:
  virtual ~Convolution() = default;
  // bias: [out channels], or undefined.
  virtual Tensor forward(const Tensor& input, const Tensor& weight, const Tensor& bias) = 0;
  // Adds to both; grad_bias may be undefined. Must be called before backward_input() of the same gradient.
  virtual void backward_parameters(Tensor grad_weight, Tensor grad_bias, const Tensor& grad_output) = 0;
  virtual Tensor backward_input(const Tensor& grad_output, const Tensor& weight) = 0;
};

class Ops : public RowOps {
 public:
  // A matrix is transposed by reading it differently.
  struct Matrix {
    const Tensor& of;  // two axes
    bool transposed = false;
  };
  // out [m, n] = a [m, k] b [k, n]; with `adds`, out += that.
  virtual void matmul(Tensor out, Matrix a, Matrix b, bool adds) const = 0;

  // Axis 1 counts channels; the axes after it act as one: [n, c, ...].
  // out[n][c][s] += of_channels[c]
  virtual void add_channels(Tensor out, const Tensor& of_channels) const = 0;
  virtual void add_channel_sums(Tensor of_channels, const Tensor& in) const = 0;  // of_channels[c] += the sum

  virtual void relu(Tensor out, const Tensor& in) const = 0;
  // out = grad where `result` is positive, 0 elsewhere; `out` may be `grad`.
  virtual void relu_backward(Tensor out, const Tensor& grad, const Tensor& result) const = 0;

  // windows.h defines the windows. winners: i32, with the shape of `out`; the position of each maximum in its
  // channel's plane of the input. The maximum of a window with a NaN is NaN, at the position of one of its
  // pixels.
  virtual void max_pool(Tensor out, Tensor winners, const Tensor& in, const Windows& windows) const = 0;
  virtual void max_pool_backward(Tensor grad_in, const Tensor& grad_out, const Tensor& winners) const = 0;

  // In training, mean and variance are the batch's, and the running ones move towards them by `momentum`;
  // otherwise they are the running ones. Writes mean and invstd.
  virtual void batch_norm(Tensor out, const Tensor& in, NormTensors norm,
                          const NormOptions& options) const = 0;
  // Adds to the gradients of weight and bias.
  struct NormGrads {
    Tensor weight, bias, in;
  };
  virtual void batch_norm_backward(NormGrads grads, const Tensor& grad_out, const Tensor& in,
                                   const NormTensors& norm, bool training) const = 0;

  virtual std::unique_ptr<Convolution> make_convolution(const ConvolutionShape& shape, DType dtype) const = 0;

  // One step of sgd.h. velocity: v, with the value's shape, or undefined without momentum.
  virtual void sgd(Tensor value, const Tensor& grad, Tensor velocity, const SgdStep& step) const = 0;
  // One step of adam.h, on its m and v.
  virtual void adam(Tensor value, const Tensor& grad, Tensor m, Tensor v, const AdamStep& step) const = 0;
};

// Throws Error{unsupported}, which says how to get them, for a device that this build has no layers for.
const Ops& ops_for(Device device);

}  // namespace dist::nn
