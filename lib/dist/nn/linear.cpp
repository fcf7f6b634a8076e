#include "dist/nn/linear.h"

#include <algorithm>
#include <cmath>

#include "dist/nn/ops.h"
#include "dist/nn/random.h"

namespace dist::nn {

Linear::Linear(std::int64_t in, std::int64_t out, LinearOptions options)
    : in_(in), out_(out), has_bias_(options.bias) {
  if (in < 1 || out < 1) fail(Errc::invalid_argument, "{}: sizes must be at least 1", str());
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  weight_.initialize(uniform({out, in}, bound));
  register_parameter("weight", weight_);
  if (has_bias_) {
    bias_.initialize(uniform({out}, bound));
    register_parameter("bias", bias_);
  }
}

std::string Linear::str() const { return fmt::format("Linear({}, {})", in_, out_); }

// Rows of inputs, or of outputs: all leading axes act as one.
Tensor Linear::rows_of(const Tensor& t, std::int64_t width) const {
  return t.view({t.numel() / width, width});
}

Tensor Linear::run_forward(const Tensor& input) {
  check_input(str(), input, weight_.value);
  if (input.dim() < 1 || input.size(-1) != in_) fail_shape(str(), input, fmt::format("[..., {}]", in_));
  Shape shape = input.shape();
  shape.back() = out_;
  Tensor out = empty(std::move(shape), input.dtype(), input.device());
  const Tensor rows = rows_of(out, out_);
  const Ops& ops = ops_for(input.device());
  ops.matmul(rows, {rows_of(input, in_)}, {weight_.value, true}, false);
  if (has_bias_) ops.add_channels(rows, bias_.value);
  input_.keep(input);
  return out;
}

Tensor Linear::run_backward(const Tensor& grad_output) {
  const Tensor input = input_.take();
  Shape shape = input.shape();
  shape.back() = out_;
  check_grad_output(str(), grad_output, shape, input);
  const Tensor grads = rows_of(grad_output, out_);
  Tensor grad_input;
  if (wants_input_grad_) {
    grad_input = empty_like(input);
    ops_for(input.device()).matmul(rows_of(grad_input, in_), {grads}, {weight_.value}, false);
    announce_input_grad(grad_input);
  }
  add_parameter_grads([this, grads, rows = rows_of(input, in_)] {
    const Ops& ops = ops_for(rows.device());
    if (has_bias_) {
      ops.add_channel_sums(bias_.grad, grads);
      bias_.grad_is_ready();
    }
    ops.matmul(weight_.grad, {grads, true}, {rows}, true);
    weight_.grad_is_ready();
  });
  return grad_input;
}

}  // namespace dist::nn
