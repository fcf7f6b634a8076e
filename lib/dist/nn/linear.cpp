#include "dist/nn/linear.h"

#include <cmath>
#include <utility>

#include "dist/core/shape.h"
#include "dist/nn/ops.h"
#include "dist/nn/random.h"

namespace dist::nn {

namespace {

// All leading axes act as one.
Tensor rows_of(const Tensor& t) {
  return t.view({product(Shape(t.shape().begin(), t.shape().end() - 1)), t.size(-1)});
}

Shape with_last(Shape shape, std::int64_t size) {
  if (!shape.empty()) shape.back() = size;
  return shape;
}

}  // namespace

Linear::Linear(std::int64_t in, std::int64_t out, LinearOptions options)
    : has_bias_(options.bias), weight_(&own_weight_) {
  if (in < 1 || out < 1) fail(Errc::invalid_argument, "Linear({}, {}): sizes must be at least 1", in, out);
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  own_weight_.initialize(uniform({out, in}, bound));
  register_parameter("weight", own_weight_);
  if (has_bias_) {
    bias_.initialize(uniform({out}, bound));
    register_parameter("bias", bias_);
  }
}

Linear::Linear(Parameter& tied) : has_bias_(false), weight_(&tied) { register_tied("weight", tied); }

std::string Linear::str() const { return fmt::format("Linear({}, {})", in(), out()); }

Tensor Linear::run_forward(const Tensor& input) {
  check_input(str(), input, weight_->value);
  if (input.dim() < 1 || input.size(-1) != in()) fail_shape(str(), input, fmt::format("[..., {}]", in()));
  Tensor output = empty(with_last(input.shape(), out()), input.dtype(), input.device());
  const Tensor rows = rows_of(output);
  const Ops& ops = ops_for(input.device());
  ops.matmul(rows, {rows_of(input)}, {weight_->value, true}, false);
  if (has_bias_ && adds_bias_) ops.add_channels(rows, bias_.value);
  input_.keep(source_ ? Tensor() : input);
  return output;
}

// The gradient of the input first: what comes before this layer waits for it.
Tensor Linear::run_backward(const Tensor& grad_output) {
  const Tensor input = input_.take();
  const Shape& expected = input.is_defined() ? input.shape() : grad_output.shape();
  check_grad_output(str(), grad_output, with_last(expected, out()), weight_->value);
  const Tensor grads = rows_of(grad_output);
  Tensor grad_input;
  if (wants_input_grad_) {
    grad_input = empty(with_last(grad_output.shape(), in()), grads.dtype(), grads.device());
    ops_for(grads.device()).matmul(rows_of(grad_input), {grads}, {weight_->value}, false);
    announce_input_grad(grad_input);
  }
  add_parameter_grads([this, grads, input] {
    const Tensor rows = rows_of(input.is_defined() ? input : source_());
    const Ops& ops = ops_for(rows.device());
    if (has_bias_) {
      ops.add_channel_sums(bias_.grad, grads);
      bias_.grad_is_ready();
    }
    ops.matmul(weight_->grad, {grads, true}, {rows}, true);
    if (weight_ == &own_weight_) weight_->grad_is_ready();
  });
  return grad_input;
}

}  // namespace dist::nn
