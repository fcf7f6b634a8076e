#include "dist/nn/max_pool2d.h"

#include <utility>

#include "dist/nn/ops.h"

namespace dist::nn {

MaxPool2d::MaxPool2d(std::int64_t kernel, MaxPool2dOptions options)
    : windows_{kernel, options.stride == 0 ? kernel : options.stride} {
  if (kernel < 1 || windows_.stride < 1) fail(Errc::invalid_argument, "{}: sizes must be at least 1", str());
}

std::string MaxPool2d::str() const {
  return fmt::format("MaxPool2d({}, stride {})", windows_.kernel, windows_.stride);
}

Tensor MaxPool2d::run_forward(const Tensor& input) {
  check_input(str(), input);
  if (input.dim() != 4 || windows_.count(input.size(2)) < 1 || windows_.count(input.size(3)) < 1)
    fail_shape(str(), input,
               "[batch, channels, height, width] of images that are at least as large as the kernel,");
  const Shape shape{input.size(0), input.size(1), windows_.count(input.size(2)),
                    windows_.count(input.size(3))};
  Tensor out = empty(shape, input.dtype(), input.device());
  Tensor places = empty(shape, DType::i32, input.device());
  ops_for(input.device()).max_pool(out, places, input, windows_);
  winners_.keep({std::move(places), input.shape(), input.dtype()});
  return out;
}

Tensor MaxPool2d::run_backward(const Tensor& grad_output) {
  const Winners winners = winners_.take();
  Tensor grad_input = empty(winners.input, winners.dtype, winners.places.device());
  check_grad_output(str(), grad_output, winners.places.shape(), grad_input);
  ops_for(grad_input.device()).max_pool_backward(grad_input, grad_output, winners.places);
  return grad_input;
}

}  // namespace dist::nn
