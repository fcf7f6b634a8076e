// What layers compute, and what they refuse.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "dist/nn/batch_norm2d.h"
#include "dist/nn/conv2d.h"
#include "dist/nn/conv_net.h"
#include "dist/nn/cross_entropy.h"
#include "dist/nn/flatten.h"
#include "dist/nn/linear.h"
#include "dist/nn/max_pool2d.h"
#include "dist/nn/relu.h"

#include "support/expect_error.h"
#include "unit/nn/gradient_check.h"

namespace dist::nn {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

Tensor with_shape(std::initializer_list<float> values, Shape shape) {
  return tensor(values).view(std::move(shape));
}

TEST(Linear, IsXTimesTheTransposedWeightPlusBias) {
  Linear layer(2, 3);
  layer.parameters()[0]->value.copy_(with_shape({1, 2, 3, 4, 5, 6}, {3, 2}));
  layer.parameters()[1]->value.copy_(tensor({10.F, 20.F, 30.F}));
  const Tensor out = layer.forward(with_shape({1, 1, 2, -1}, {2, 2}));
  EXPECT_EQ(out.to_vector<int>(), (std::vector<int>{13, 27, 41, 10, 22, 34}));
  EXPECT_EQ(layer.forward(empty({0, 2})).shape(), (Shape{0, 3}));
  EXPECT_EQ(layer.backward(empty({0, 3})).shape(), (Shape{0, 2}));
}

TEST(Conv2d, IsACorrelationAndPadsWithZeros) {
  Conv2d layer(1, 1, 3, {.padding = 1});
  layer.parameters()[0]->value.copy_(with_shape({0, 0, 0, 0, 1, 10, 0, 0, 100}, {1, 1, 3, 3}));
  layer.parameters()[1]->value.fill_(1000);
  const Tensor out = layer.forward(with_shape({1, 2, 3, 4}, {1, 1, 2, 2}));
  // pixel + 10 right + 100 right below
  EXPECT_EQ(out.to_vector<int>(), (std::vector<int>{1 + 20 + 400 + 1000, 1002, 1043, 1004}));
}

TEST(Conv2d, StridesLeaveWindowsOut) {
  Conv2d layer(1, 1, 1, {.stride = 2, .bias = false});
  layer.parameters()[0]->value.fill_(1);
  EXPECT_EQ(layer.forward(arange(15).view({1, 1, 3, 5})).to_vector<int>(),
            (std::vector<int>{0, 2, 4, 10, 12, 14}));
}

TEST(Conv2d, TakesAnotherShapeAtAnyTimeAndAnEmptyBatch) {
  Conv2d layer(1, 2, 3);
  EXPECT_EQ(layer.forward(ones({2, 1, 5, 5})).shape(), (Shape{2, 2, 3, 3}));
  EXPECT_EQ(layer.forward(ones({1, 1, 3, 4})).shape(), (Shape{1, 2, 1, 2}));
  EXPECT_EQ(layer.backward(ones({1, 2, 1, 2})).shape(), (Shape{1, 1, 3, 4}));
  EXPECT_EQ(layer.forward(ones({0, 1, 5, 5})).shape(), (Shape{0, 2, 3, 3}));
  layer.zero_grad();
  EXPECT_EQ(layer.backward(ones({0, 2, 3, 3})).shape(), (Shape{0, 1, 5, 5}));
  EXPECT_EQ(sum(layer.parameters()[0]->grad), 0);
}

TEST(MaxPool2d, LeavesOutWhatFillsNoWindowAndTakesTheFirstOfEquals) {
  MaxPool2d pool(2);
  const Tensor out = pool.forward(with_shape({1, 5, 9, 2, 5, 9, 9, 9, 9}, {1, 1, 3, 3}));
  EXPECT_EQ(out.to_vector<int>(), (std::vector<int>{5}));
  EXPECT_EQ(pool.backward(ones({1, 1, 1, 1})).to_vector<int>(),
            (std::vector<int>{0, 1, 0, 0, 0, 0, 0, 0, 0}));
  const auto lowest = static_cast<float>(-infinity);
  EXPECT_EQ(pool.forward(full({1, 1, 2, 2}, lowest)).item<double>(), -infinity);
}

// The last NaN is the maximum and has the gradient, as in torch.
TEST(MaxPool2d, NaNMakesNaNWhereverItIs) {
  for (const std::int64_t size : {2, 3})
    for (std::int64_t i = 0; i < size * size; ++i)
      for (std::int64_t j = 0; j <= i; ++j) {
        MaxPool2d pool(size);
        Tensor input = arange(size * size), expected = zeros({size * size});
        input.narrow(i, 1).fill_(nan), input.narrow(j, 1).fill_(nan);
        expected.narrow(i, 1).fill_(1);
        EXPECT_TRUE(std::isnan(pool.forward(input.view({1, 1, size, size})).item<double>()))
            << size << ' ' << i;
        EXPECT_TRUE(equal(pool.backward(ones({1, 1, 1, 1})).view({size * size}), expected))
            << size << ' ' << i << ' ' << j;
      }
}

TEST(ReLU, KeepsNaNAndHasNoGradientAtZero) {
  ReLU relu;
  const auto out = relu.forward(tensor({-1.F, 0.F, 2.F, static_cast<float>(nan)})).to_vector<double>();
  EXPECT_EQ(out[0] + out[1], 0);
  EXPECT_EQ(out[2], 2);
  EXPECT_TRUE(std::isnan(out[3]));
  EXPECT_EQ(relu.backward(ones({4})).narrow(0, 3).to_vector<int>(), (std::vector<int>{0, 0, 1}));
}

TEST(BatchNorm2d, TakesUpTheUnbiasedVarianceAndUsesItInEvaluation) {
  BatchNorm2d layer(1, {.eps = 0, .momentum = 0.25});
  const Tensor out =
      layer.forward(with_shape({1, 3, 5, 7}, {2, 1, 1, 2}));  // mean 4, variance 5, unbiased 20/3
  EXPECT_NEAR(out.to_vector<double>()[0], -3 / std::sqrt(5.0), 1e-6);
  const StateDict state = layer.state_dict();
  EXPECT_NEAR(find(state, "running_mean")->item<double>(), 0.25 * 4, 1e-6);
  EXPECT_NEAR(find(state, "running_var")->item<double>(), 0.75 + 0.25 * 20 / 3, 1e-6);
  EXPECT_EQ(find(state, "num_batches_tracked")->item<int>(), 1);
  layer.eval();
  const double invstd = 1 / std::sqrt(0.75 + 0.25 * 20 / 3);
  EXPECT_NEAR(layer.forward(full({1, 1, 1, 1}, 2)).item<double>(), invstd, 1e-6);
  EXPECT_EQ(find(layer.state_dict(), "num_batches_tracked")->item<int>(), 1);
}

// The variance of large numbers that differ a little is lost when it is computed as E x^2 - (E x)^2.
TEST(BatchNorm2d, KeepsTheVarianceOfLargeNumbers) {
  BatchNorm2d layer(1, {.eps = 0});
  const auto out = layer.forward(with_shape({10000, 10001, 10002, 10003}, {4, 1, 1, 1})).to_vector<double>();
  EXPECT_NEAR(out[0], -1.5 / std::sqrt(1.25), 1e-3);
  EXPECT_NEAR(out[3], 1.5 / std::sqrt(1.25), 1e-3);
}

TEST(CrossEntropyLoss, IsStableHoweverLargeLogitsAre) {
  CrossEntropyLoss loss;
  const Tensor targets = tensor({std::int64_t{0}, std::int64_t{1}});
  EXPECT_NEAR(loss.forward(with_shape({3e38F, -3e38F, -3e38F, 3e38F}, {2, 2}), targets), 0, 1e-12);
  EXPECT_EQ(loss.backward().to_vector<double>(), (std::vector<double>{0, 0, 0, 0}));
  EXPECT_NEAR(loss.forward(with_shape({0, 1000, 0, 1000}, {2, 2}), targets), 500, 1e-9);
  EXPECT_NEAR(loss.forward(zeros({2, 4}), targets), std::log(4.0), 1e-12);
  EXPECT_TRUE(std::isnan(loss.forward(full({2, 2}, nan), targets)));
}

// Two parts of a batch, each divided by the number of targets of both, one of them none.
TEST(CrossEntropyLoss, ADivisorMakesPartsOfAMean) {
  CrossEntropyLoss loss;
  const Tensor logits = arange(15, DType::f64).view({5, 3}) * 0.1;
  const Tensor targets = tensor<std::int64_t>({2, -100, 1, -100, -100});
  const double whole = loss.forward(logits, targets);
  const Tensor gradient = loss.backward();
  double sum_of_parts = 0;
  for (const auto& [first, count] : {std::pair{0, 3}, std::pair{3, 2}}) {
    const Loss part = loss.forward(logits.narrow(first, count), targets.narrow(first, count), 2);
    EXPECT_EQ(part.count(), 2);
    sum_of_parts += part.item();
    EXPECT_TRUE(equal(loss.backward(), gradient.narrow(first, count)));
  }
  EXPECT_DOUBLE_EQ(sum_of_parts, whole);
  EXPECT_DIST_ERROR(loss.forward(logits, targets, 0), Errc::invalid_argument, "divisor = 0 is out of range");
}

TEST(CrossEntropyLoss, RefusesWhatIsNoClass) {
  CrossEntropyLoss loss;
  const auto targets = [](std::int64_t first, std::int64_t second) { return tensor({first, second}); };
  EXPECT_DIST_ERROR(loss.forward(zeros({2, 3}), targets(0, 3)), Errc::invalid_argument,
                    "CrossEntropyLoss: target 3 of row 1 is not a class; there are 3, counted from 0");
  EXPECT_DIST_ERROR(loss.forward(zeros({2, 3}), targets(-1, 0)), Errc::invalid_argument,
                    "target -1 of row 0");
  EXPECT_DIST_ERROR(loss.backward(), Errc::invalid_argument, "without a forward()");
  EXPECT_DIST_ERROR(loss.forward(zeros({3, 3}), targets(0, 0)), Errc::invalid_argument,
                    "[2] i64, [3] i64 is expected");
  EXPECT_DIST_ERROR(loss.forward(zeros({2, 3}), tensor({0, 1})), Errc::invalid_argument, "[2] i32");
  EXPECT_DIST_ERROR(loss.forward(zeros({0, 3}), zeros({0}, DType::i64)), Errc::invalid_argument,
                    "none of them 0");
}

TEST(Layers, SayWhatTheyExpect) {
  Linear linear(8, 16);
  EXPECT_DIST_ERROR(linear.forward(zeros({4, 7})), Errc::invalid_argument,
                    "Linear(8, 16): the input is [4, 7], [..., 8] is expected");
  EXPECT_DIST_ERROR(linear.forward(Tensor()), Errc::invalid_argument, "the input is undefined");
  EXPECT_DIST_ERROR(linear.forward(zeros({4, 8}, DType::i32)), Errc::invalid_argument,
                    "is i32; layers compute in bf16, f32 or f64");
  EXPECT_DIST_ERROR(linear.forward(zeros({4, 8}, DType::f64)), Errc::invalid_argument,
                    "the input is f64 on cpu, f32 on cpu is expected");
  linear.forward(zeros({4, 8}));
  EXPECT_DIST_ERROR(linear.backward(zeros({4, 8})), Errc::invalid_argument,
                    "a gradient of shape [4, 8], that of the output is [4, 16]");
  Conv2d conv(3, 4, 5);
  EXPECT_DIST_ERROR(conv.forward(zeros({1, 2, 9, 9})), Errc::invalid_argument, "[batch, 3, height, width]");
  EXPECT_DIST_ERROR(conv.forward(zeros({1, 3, 4, 9})), Errc::invalid_argument,
                    "at least as large as the kernel");
  MaxPool2d pool(3);
  EXPECT_DIST_ERROR(pool.forward(zeros({1, 3, 2, 9})), Errc::invalid_argument,
                    "MaxPool2d(3, stride 3): the input is");
  BatchNorm2d norm(3);
  EXPECT_DIST_ERROR(norm.forward(zeros({1, 3, 1, 1})), Errc::invalid_argument,
                    "fewer than two values per channel");
  EXPECT_DIST_ERROR(norm.forward(zeros({1, 2, 4, 4})), Errc::invalid_argument, "[batch, 3, height, width]");
  EXPECT_DIST_ERROR(Flatten().forward(zeros({})), Errc::invalid_argument, "[batch, ...]");
}

TEST(Layers, RefuseSizesThatAreNone) {
  EXPECT_DIST_ERROR(Linear(0, 1), Errc::invalid_argument, "Linear(0, 1): sizes must be at least 1");
  EXPECT_DIST_ERROR(Conv2d(1, 1, 0), Errc::invalid_argument, "sizes must be at least 1");
  EXPECT_DIST_ERROR(Conv2d(1, 1, 3, {.padding = -1}), Errc::invalid_argument, "the padding at least 0");
  EXPECT_DIST_ERROR(MaxPool2d(2, {.stride = -1}), Errc::invalid_argument, "at least 1");
  EXPECT_DIST_ERROR(BatchNorm2d(0), Errc::invalid_argument, "at least 1");
}

TEST(Layers, ComputeNoInputGradientThatNobodyWants) {
  ConvNet model;
  EXPECT_EQ(model.forward(zeros({2, 1, 28, 28})).shape(), (Shape{2, 10}));
  EXPECT_EQ(model.backward(ones({2, 10})).shape(), (Shape{2, 1, 28, 28}));
  model.skip_input_grad();
  model.forward(zeros({2, 1, 28, 28}));
  EXPECT_FALSE(model.backward(ones({2, 10})).is_defined());
  Linear linear(2, 2);
  linear.skip_input_grad();
  linear.forward(ones({1, 2}));
  EXPECT_FALSE(linear.backward(ones({1, 2})).is_defined());
  EXPECT_EQ(sum(linear.parameters()[0]->grad), 4);
}

// A gradient may be a piece of a bucket, aligned to its elements only.
TEST(Layers, AddToGradientsThatLieAnywhere) {
  Tensor bucket = ones({1000});
  Conv2d conv(2, 3, 3);
  Linear linear(4, 5);
  const auto parts_of = [&](Module& module) {
    Tensor& weight = module.parameters()[0]->grad;
    Tensor& bias = module.parameters()[1]->grad;
    bias = bucket.narrow(1, bias.numel()).view(bias.shape());
    weight = bucket.narrow(1 + bias.numel(), weight.numel()).view(weight.shape());
  };
  for (Module* const module : {static_cast<Module*>(&conv), static_cast<Module*>(&linear)}) {
    const Tensor input = module == &conv ? ones({2, 2, 4, 4}) : ones({2, 4});
    const Tensor grad = ones(module->forward(input).shape());
    bucket.fill_(1);
    parts_of(*module);
    module->backward(grad);
    const auto held = bucket.to_vector<double>();
    const std::int64_t outs = module->parameters()[1]->grad.numel(), sums = grad.numel() / outs;
    const auto ends = static_cast<std::size_t>(1 + outs + module->parameters()[0]->grad.numel());
    for (std::size_t i = 0; i < held.size(); ++i)
      EXPECT_EQ(held[i], i == 0 || i >= ends ? 1 : 1 + static_cast<double>(sums))
          << module->str() << ' ' << i;
  }
}

}  // namespace
}  // namespace dist::nn
