#include "dist/nn/conv2d.h"

#include <cmath>

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

Tensor Conv2d::forward(const Tensor& input) {
  check_input(str(), input, weight_.value);
  if (input.dim() != 4 || input.size(1) != in_ || windows_.count(input.size(2)) < 1 ||
      windows_.count(input.size(3)) < 1)
    fail_shape(
        str(), input,
        fmt::format("[batch, {}, height, width] of images that are at least as large as the kernel,", in_));
  Plan plan{{input.shape(), out_, windows_}, input.dtype(), input.device()};
  if (!convolution_ || plan != plan_) {
    convolution_ = ops_for(input.device()).make_convolution(plan.shape, plan.dtype);  // may throw
    plan_ = std::move(plan);
  }
  Tensor out = convolution_->forward(input, weight_.value, bias_.value);
  input_.keep(input);
  return out;
}

Tensor Conv2d::backward(const Tensor& grad_output) {
  const Tensor input = input_.take(str());
  check_grad_output(str(), grad_output, plan_.shape.output(), input);
  convolution_->backward_parameters(weight_.grad, bias_.grad, grad_output);
  if (has_bias_) bias_.grad_is_ready();
  weight_.grad_is_ready();
  return wants_input_grad_ ? convolution_->backward_input(grad_output, weight_.value) : Tensor();
}

}  // namespace dist::nn
