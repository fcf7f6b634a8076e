// What a device must do for the layers (for a transformer: row_ops.h), as a thin table of calls on tensors:
// the layers check, the table computes. Arguments have been checked: shapes fit, and there is one dtype and
// one device. bf16 is computed in f32 and rounded once per call; statistics that a forward keeps are f32
// under bf16. A tensor that is added to is written in place, and is aligned to its elements only. On a CPU
// the work is done when a call returns; on a GPU it is enqueued on the current stream.
#pragma once

#include <memory>
#include <span>

#include "dist/core/tensor.h"
#include "dist/nn/row_ops.h"
#include "dist/nn/windows.h"

namespace dist::nn {

// A parameter in a step of SGD (sgd.h).
struct SgdItem {
  Tensor value, grad;
  Tensor velocity;  // v; undefined without momentum
  double lr, weight_decay;
  Tensor rounded = {};  // see is_master()
};

// A parameter in a step of Adam or AdamW (adam.h).
struct AdamItem {
  Tensor value, grad, m, v;
  double lr, weight_decay;
  Tensor rounded = {};
};

// Whether `value` is the f32 master weight of a parameter in bf16. Then the gradient is in bf16, too, and the
// step also writes the parameter, `rounded`; the other tensors are f32.
template <class Item>
bool is_master(const Item& item) {
  return item.rounded.is_defined();
}
struct AdamStep {
  double beta1, beta2, eps;
  double correction1, correction2;  // 1 - beta^t in step t
  bool decoupled;                   // AdamW's weight decay
};

// What BatchNorm2d computes with; each has shape [c].
struct NormTensors {
  Tensor weight, bias, running_mean, running_var;
  Tensor mean, invstd;  // the last forward's: subtracted, and multiplied by; f32 under bf16
};
struct NormOptions {
  double eps, momentum;
  bool training;
};

// The convolution of one layer for inputs of one shape. It keeps what the backward calls need from forward():
// the input, for backward_parameters().
class Convolution {
 public:
  virtual ~Convolution() = default;
  // bias: [out channels], or undefined.
  virtual Tensor forward(const Tensor& input, const Tensor& weight, const Tensor& bias) = 0;
  virtual void forget_input() = 0;  // the last forward()'s; backward_parameters() will not be called
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
  // out = a b + bias, [n] for each row. In bf16, a CPU rounds it once, a GPU the product, too.
  virtual void affine(Tensor out, Matrix a, Matrix b, const Tensor& bias) const {
    matmul(out, a, b, false);
    add_channels(out, bias);
  }

  // Axis 1 counts channels; the axes after it act as one: [n, c, ...].
  // out[n][c][s] += of_channels[c]
  virtual void add_channels(Tensor out, const Tensor& of_channels) const = 0;
  virtual void add_channel_sums(Tensor of_channels, const Tensor& in) const = 0;  // of_channels[c] += the sum

  virtual void relu(Tensor out, const Tensor& in) const = 0;
  // out = grad where `result` is positive, 0 elsewhere; `out` may be `grad`.
  virtual void relu_backward(Tensor out, const Tensor& grad, const Tensor& result) const = 0;

  // windows.h defines the windows. winners: i32, with the shape of `out`; the position of each maximum in its
  // channel's plane of the input: the first maximum, or the last NaN, which counts as one.
  virtual void max_pool(Tensor out, Tensor winners, const Tensor& in, const Windows& windows) const = 0;
  virtual void max_pool_backward(Tensor grad_in, const Tensor& grad_out, const Tensor& winners) const = 0;

  // In training, mean and variance are the batch's, and the running ones move towards them by `momentum`;
  // otherwise they are the running ones. Writes mean and invstd.
  virtual void batch_norm(Tensor out, const Tensor& in, NormTensors norm,
                          const NormOptions& options) const = 0;
  // Adds to the gradients of weight and bias, each of which may be undefined.
  struct NormGrads {
    Tensor weight, bias, in;
  };
  virtual void batch_norm_backward(NormGrads grads, const Tensor& grad_out, const Tensor& in,
                                   const NormTensors& norm, bool training) const = 0;

  virtual std::unique_ptr<Convolution> make_convolution(const ConvolutionShape& shape, DType dtype) const = 0;

  // Lists of tensors of one dtype on one device: a GPU takes many of them in one kernel.
  virtual void sgd(std::span<const SgdItem> list, double momentum) const = 0;
  virtual void adam(std::span<const AdamItem> list, const AdamStep& step) const = 0;
  virtual void zero(std::span<const Tensor> list) const = 0;
  // out = the sum of the squares of all elements of the list. out: [] f64.
  virtual void squared_norm(Tensor out, std::span<const Tensor> list) const = 0;
  // Multiplies all tensors of the list by functors.h's ClipFactor of `squared_norm`, [] f64.
  virtual void clip(std::span<const Tensor> list, const Tensor& squared_norm, double max_norm) const = 0;
};

// Throws Error{unsupported}, which says how to get them, for a device that this build has no layers for.
const Ops& ops_for(Device device);
// Installs other Ops for GPUs (tests, along with set_device_api()); nullptr: the build's own.
void set_gpu_ops(const Ops* ops);

}  // namespace dist::nn
