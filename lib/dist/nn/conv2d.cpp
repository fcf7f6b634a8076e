#include "dist/nn/conv2d.h"

#include <cmath>
#include <utility>

#include "dist/nn/random.h"

namespace dist::nn {

Conv2d::Conv2d(std::int64_t in, std::int64_t out, std::int64_t kernel, Conv2dOptions options)
    : in_(in), out_(out), windows_{kernel, options.stride, options.padding}, has_bias_(options.bias) {
  if (in < 1 || out < 1 || kernel < 1 || options.stride < 1 || options.padding < 0)
    fail(Errc::invalid_argument, "{}: sizes must be at least 1, and the padding at least 0", str());
  const double bound = 1 / std::sqrt(static_cast<double>(in * kernel * kernel));
  weight_.initialize(uniform({out, in, kernel, kernel}, bound));
  register_parameter("weight", weight_);
  if (has_bias_) {
    bias_.initialize(uniform({out}, bound));
    register_parameter("bias", bias_);
  }
}

std::string Conv2d::str() const {
  return fmt::format("Conv2d({}, {}, kernel {}, stride {}, padding {})", in_, out_, windows_.kernel,
                     windows_.stride, windows_.padding);
}

Tensor Conv2d::run_forward(const Tensor& input) {
  check_input(str(), input, weight_.value);
  if (input.dim() != 4 || input.size(1) != in_ || windows_.count(input.size(2)) < 1 ||
      windows_.count(input.size(3)) < 1)
    fail_shape(
        str(), input,
        fmt::format("[batch, {}, height, width] of images that are at least as large as the kernel,", in_));
  Plan plan{{input.shape(), out_, windows_}, input.dtype(), input.device()};
  if (plan != plan_) {
    idle_.clear();
    plan_ = plan;
  }
  if (idle_.empty()) idle_.push_back(ops_for(plan.device).make_convolution(plan.shape, plan.dtype));
  Forward forward{std::move(plan), std::move(idle_.back())};
  idle_.pop_back();
  Tensor out = forward.convolution->forward(input, weight_.value, bias_.value);
  if (!weight_.requires_grad()) forward.convolution->forget_input();
  if (!needs_backward())
    put_back(std::move(forward));
  else if (auto gone = forwards_.keep(std::move(forward)))
    put_back(std::move(*gone));
  return out;
}

Tensor Conv2d::run_backward(const Tensor& grad_output) {
  Forward forward = forwards_.take();
  check_grad_output(str(), grad_output, forward.plan.shape.output(), weight_.value);
  Convolution& convolution = *forward.convolution;
  if (has_bias_ && bias_.requires_grad() && !weight_.requires_grad())
    ops_for(grad_output.device()).add_channel_sums(bias_.grad, grad_output);
  if (weight_.requires_grad()) convolution.backward_parameters(weight_.grad, bias_.grad, grad_output);
  if (has_bias_ && bias_.requires_grad()) bias_.grad_is_ready();
  if (weight_.requires_grad()) weight_.grad_is_ready();
  Tensor grad_input = wants_input_grad() ? convolution.backward_input(grad_output, weight_.value) : Tensor();
  put_back(std::move(forward));
  return grad_input;
}

void Conv2d::put_back(Forward done) {
  done.convolution->forget_input();
  if (done.plan == plan_) idle_.push_back(std::move(done.convolution));
}

}  // namespace dist::nn
