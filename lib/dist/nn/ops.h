// What a device must do for the layers, as a thin table of calls on tensors; the layers check, the table
// computes. Arguments have been checked: shapes fit, one dtype, one device. What is added to is written in
// place and aligned to its elements only. On a CPU a call has finished when it returns; on a GPU it is
// enqueued on the current stream.
#pragma once

#include "dist/core/tensor.h"

namespace dist::nn {

struct SgdStep {
  double lr, momentum, weight_decay;
};

class Ops {
 public:
  virtual ~Ops() = default;

  // The transpose of a matrix is a matter of reading it.
  struct Matrix {
    const Tensor& of;  // two axes
    bool transposed = false;
  };
  // out [m, n] = a [m, k] b [k, n]; with `adds`, out += that.
  virtual void matmul(Tensor out, Matrix a, Matrix b, bool adds) const = 0;

  // Axis 1 counts channels, those behind it are one: [n, c, ...].
  virtual void add_channels(Tensor out,
                            const Tensor& of_channels) const = 0;  // out[n][c][s] += of_channels[c]
  virtual void add_channel_sums(Tensor of_channels, const Tensor& in) const = 0;  // the other way round

  virtual void relu(Tensor out, const Tensor& in) const = 0;
  // out = grad where `result` is positive, 0 elsewhere; out may be grad.
  virtual void relu_backward(Tensor out, const Tensor& grad, const Tensor& result) const = 0;

  // The step of sgd.h. velocity: v, of the value's shape, or undefined without momentum.
  virtual void sgd(Tensor value, const Tensor& grad, Tensor velocity, const SgdStep& step) const = 0;
};

// Error{unsupported} saying how to get it for a device that this build has no layers for.
const Ops& ops_for(Device device);

}  // namespace dist::nn
