// Every layer's backward, by finite differences.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dist/nn/batch_norm2d.h"
#include "dist/nn/conv2d.h"
#include "dist/nn/cross_entropy.h"
#include "dist/nn/flatten.h"
#include "dist/nn/linear.h"
#include "dist/nn/max_pool2d.h"
#include "dist/nn/relu.h"
#include "dist/nn/sequential.h"

#include "unit/nn/gradient_check.h"

namespace dist::nn {
namespace {

TEST(Gradients, Linear) {
  for (const std::int64_t batch : {1, 2, 5}) {
    for (const std::int64_t in : {1, 3, 8}) {
      for (const std::int64_t out : {1, 2, 7}) {
        Linear layer(in, out);
        check_gradients(layer, scattered({batch, in}, 7));
      }
    }
  }
  Linear without_bias(3, 2, {.bias = false});
  EXPECT_EQ(without_bias.parameters().size(), 1U);
  check_gradients(without_bias, scattered({4, 3}, 7));
}

struct ConvCase {
  std::int64_t batch, in, out, height, width, kernel, stride, padding;
  std::string name() const {
    return fmt::format("b{}_in{}_out{}_{}x{}_k{}_s{}_p{}", batch, in, out, height, width, kernel, stride,
                       padding);
  }
};
class Conv2dGradients : public testing::TestWithParam<ConvCase> {};

TEST_P(Conv2dGradients, AreThoseOfDifferences) {
  const ConvCase& c = GetParam();
  Conv2d layer(c.in, c.out, c.kernel, {.stride = c.stride, .padding = c.padding});
  check_gradients(layer, scattered({c.batch, c.in, c.height, c.width}, 11));
}

INSTANTIATE_TEST_SUITE_P(Shapes, Conv2dGradients,
                         testing::Values(ConvCase{1, 1, 1, 1, 1, 1, 1, 0}, ConvCase{2, 1, 3, 5, 5, 3, 1, 0},
                                         ConvCase{1, 2, 2, 4, 6, 3, 1, 1}, ConvCase{2, 3, 2, 6, 5, 2, 2, 0},
                                         ConvCase{1, 2, 3, 7, 7, 5, 1, 2}, ConvCase{1, 1, 2, 5, 4, 3, 2, 1},
                                         ConvCase{2, 2, 1, 3, 8, 3, 3, 2}, ConvCase{1, 2, 2, 2, 2, 5, 1, 2},
                                         ConvCase{1, 1, 1, 4, 4, 2, 3, 3}),
                         [](const auto& test) { return test.param.name(); });

TEST(Gradients, Conv2dWithoutBias) {
  Conv2d layer(2, 3, 3, {.bias = false});
  EXPECT_EQ(layer.parameters().size(), 1U);
  check_gradients(layer, scattered({2, 2, 4, 4}, 5));
}

TEST(Gradients, BatchNorm2dInTrainingAndEvaluation) {
  for (const Shape& shape : {Shape{2, 1, 1, 1}, Shape{1, 3, 2, 2}, Shape{4, 2, 3, 5}}) {
    BatchNorm2d layer(shape[1]);
    check_gradients(layer, scattered(shape, 3));
    layer.eval();  // running mean and variance have been moved by then
    check_gradients(layer, scattered(shape, 4));
  }
}

TEST(Gradients, ReLUMaxPoolAndFlatten) {
  ReLU relu;
  check_gradients(relu, scattered({3, 4}, 1));
  for (const auto& [kernel, stride] : {std::pair{1, 1}, {2, 0}, {3, 0}, {2, 1}, {3, 2}, {2, 3}}) {
    MaxPool2d pool(kernel, {.stride = stride});
    check_gradients(pool, scattered({2, 3, 6, 7}, 2));
  }
  Flatten flatten;
  check_gradients(flatten, scattered({2, 3, 2, 2}, 1));
}

TEST(Gradients, ALittleNetworkOfAll) {
  Sequential model;
  model.add<Conv2d>(1, 2, 3, Conv2dOptions{.padding = 1});
  model.add<BatchNorm2d>(2);
  model.add<ReLU>();
  model.add<MaxPool2d>(2);
  model.add<Flatten>();
  model.add<Linear>(8, 3);
  check_gradients(model, scattered({3, 1, 4, 4}, 9));
}

TEST(Gradients, CrossEntropy) {
  for (const std::int64_t batch : {1, 4}) {
    Tensor logits = scattered({batch, 5}, 6), targets = arange(batch, DType::i64);
    CrossEntropyLoss loss;
    loss.forward(logits, targets);
    const Tensor gradient = loss.backward();
    expect_gradient(
        logits, gradient, [&] { return loss.forward(logits, targets); }, "logits");
  }
}

}  // namespace
}  // namespace dist::nn
