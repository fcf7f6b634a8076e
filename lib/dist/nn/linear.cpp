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

Tensor Linear::forward(const Tensor& input) {
  check_input(str(), input, weight_.value);
  if (input.dim() != 2 || input.size(1) != in_) fail_shape(str(), input, fmt::format("[batch, {}]", in_));
  Tensor out = empty({input.size(0), out_}, input.dtype(), input.device());
  const Ops& ops = ops_for(input.device());
  ops.matmul(out, {input}, {weight_.value, true}, false);
  if (has_bias_) ops.add_channels(out, bias_.value);
  input_.keep(input);
  return out;
}

Tensor Linear::backward(const Tensor& grad_output) {
  const Tensor input = input_.take(str());
  check_grad_output(str(), grad_output, {input.size(0), out_}, input);
  const Ops& ops = ops_for(input.device());
  if (has_bias_) {
    ops.add_channel_sums(bias_.grad, grad_output);
    bias_.grad_is_ready();
  }
  ops.matmul(weight_.grad, {grad_output, true}, {input}, true);
  weight_.grad_is_ready();
  if (!wants_input_grad_) return {};
  Tensor grad_input = empty_like(input);
  ops.matmul(grad_input, {grad_output}, {weight_.value}, false);
  return grad_input;
}

}  // namespace dist::nn
