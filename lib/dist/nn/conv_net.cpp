#include "dist/nn/conv_net.h"

#include "dist/nn/batch_norm2d.h"
#include "dist/nn/conv2d.h"
#include "dist/nn/flatten.h"
#include "dist/nn/max_pool2d.h"
#include "dist/nn/relu.h"

namespace dist::nn {

namespace {

void append_block(Sequential& to, std::int64_t in, std::int64_t out) {
  to.add<Conv2d>(in, out, 5, Conv2dOptions{.padding = 2});
  to.add<BatchNorm2d>(out);
  to.add<ReLU>();
  to.add<MaxPool2d>(2);
}

}  // namespace

ConvNet::ConvNet(std::int64_t classes) : fc_(32 * 7 * 7, classes) {
  append_block(cnn_, 1, 16);   // [batch, 16, 14, 14]
  append_block(cnn_, 16, 32);  // [batch, 32, 7, 7]
  cnn_.add<Flatten>();
  register_module("cnn", cnn_);
  register_module("fc", fc_);
}

Tensor ConvNet::run_forward(const Tensor& input) {
  bool needs_grad = wants_input_grad();
  const Tensor features = forward_child(cnn_, input, needs_grad);
  return forward_child(fc_, features, needs_grad);
}

Tensor ConvNet::run_backward(const Tensor& grad_output) { return cnn_.backward(fc_.backward(grad_output)); }

}  // namespace dist::nn
