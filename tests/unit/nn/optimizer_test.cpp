#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "dist/nn/adam.h"
#include "dist/nn/sgd.h"

#include "support/expect_error.h"

namespace dist::nn {
namespace {

// One parameter x whose gradient is 2 x; `steps` values of it.
std::vector<double> descend(Optimizer& optimizer, Parameter& x, int steps) {
  std::vector<double> values;
  for (int i = 0; i < steps; ++i) {
    x.grad.copy_(x.value * 2);
    optimizer.step();
    values.push_back(x.value.item<double>());
  }
  return values;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-12) << "step " << i;
}

TEST(SGD, FollowsItsFormula) {
  for (const double momentum : {0.0, 0.9}) {
    Parameter x;
    x.initialize(full({1}, 3, DType::f64));
    SGD sgd({&x}, {.lr = 0.1, .momentum = momentum, .weight_decay = 0.01});
    std::vector<double> expected;
    double value = 3, v = 0;
    for (int i = 0; i < 5; ++i) {
      v = momentum * v + (2 * value + 0.01 * value);
      expected.push_back(value -= 0.1 * v);
    }
    expect_near(descend(sgd, x, 5), expected);
  }
}

TEST(Adam, FollowsItsFormula) {
  Parameter x;
  x.initialize(full({1}, 3, DType::f64));
  Adam adam({&x}, {.lr = 0.1, .betas = {0.8, 0.95}, .eps = 1e-4, .weight_decay = 0.01});
  std::vector<double> expected;
  double value = 3, m = 0, v = 0;
  for (int t = 1; t <= 5; ++t) {
    const double g = 2 * value + 0.01 * value;
    m = 0.8 * m + 0.2 * g;
    v = 0.95 * v + 0.05 * g * g;
    expected.push_back(value -=
                       0.1 * (m / (1 - std::pow(0.8, t))) / (std::sqrt(v / (1 - std::pow(0.95, t))) + 1e-4));
  }
  expect_near(descend(adam, x, 5), expected);
}

TEST(AdamW, FollowsItsFormula) {
  Parameter x;
  x.initialize(full({1}, 3, DType::f64));
  AdamW adamw({&x}, {.lr = 0.1, .betas = {0.8, 0.95}, .eps = 1e-4, .weight_decay = 0.25});
  std::vector<double> expected;
  double value = 3, m = 0, v = 0;
  for (int t = 1; t <= 5; ++t) {
    const double g = 2 * value;
    m = 0.8 * m + 0.2 * g;
    v = 0.95 * v + 0.05 * g * g;
    value -= 0.1 * 0.25 * value;
    expected.push_back(value -=
                       0.1 * (m / (1 - std::pow(0.8, t))) / (std::sqrt(v / (1 - std::pow(0.95, t))) + 1e-4));
  }
  expect_near(descend(adamw, x, 5), expected);
}

TEST(Optimizer, GroupsHaveOptionsOfTheirOwn) {
  std::array<Parameter, 3> x;
  for (Parameter& each : x) each.initialize(ones({1}));
  const std::vector<ParameterGroup> groups{{.parameters = {&x[1]}, .weight_decay = 0.5},
                                           {.parameters = {&x[2], &x[0]}, .lr_scale = 4}};
  SGD sgd(groups, {.lr = 0.125, .momentum = 0.5, .weight_decay = 0.25});
  sgd.step();
  EXPECT_EQ(x[1].value.item<float>(), 1 - 0.125 * 0.5);
  EXPECT_EQ(x[0].value.item<float>(), 1 - 4 * 0.125 * 0.25);
  EXPECT_EQ(x[2].value.item<float>(), 1 - 4 * 0.125 * 0.25);
  EXPECT_EQ(find(sgd.state_dict(), "0.momentum_buffer")->item<float>(), 0.5);
  for (Parameter& each : x) each.value.fill_(1);
  AdamW(groups, {.lr = 0.125, .weight_decay = 0.25}).step();
  EXPECT_EQ(x[1].value.item<float>(), 1 - 0.125 * 0.5);
  EXPECT_EQ(x[0].value.item<float>(), 1 - 4 * 0.125 * 0.25);
}

TEST(Optimizer, WeightsDecayAndBiasesDoNot) {
  Parameter weight, bias, number;
  weight.initialize(ones({2, 1}));
  bias.initialize(ones({2}));
  number.initialize(ones({}));
  const auto groups = decay_groups({&bias, &weight, &number});
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].parameters, std::vector{&weight});
  EXPECT_EQ(groups[0].weight_decay, std::nullopt);
  EXPECT_EQ(groups[1].parameters, (std::vector{&bias, &number}));
  EXPECT_EQ(groups[1].weight_decay, 0);
}

// The list of a step changes its dtype in the middle, and one of its tensors is empty.
TEST(Optimizer, TakesParametersOfSeveralDtypes) {
  std::array<Parameter, 4> x;
  for (std::size_t i = 0; i < 4; ++i)
    x[i].initialize(ones({i == 1 ? 0 : 2}, i == 2 ? DType::f64 : DType::f32));
  for (Parameter& each : x) each.grad.fill_(1);
  SGD({&x[0], &x[1], &x[2], &x[3]}, {.lr = 0.25}).step();
  for (const std::size_t i : {0, 2, 3})
    EXPECT_EQ(x[i].value.to_vector<double>(), (std::vector{0.75, 0.75})) << i;
}

TEST(Optimizer, GoesOnWhereItsStateWasSaved) {
  const auto make = [](bool adam, Parameter& x) -> std::unique_ptr<Optimizer> {
    if (adam) return std::make_unique<Adam>(std::vector{&x}, AdamOptions{.lr = 0.1});
    return std::make_unique<SGD>(std::vector{&x}, SGDOptions{.lr = 0.1, .momentum = 0.9});
  };
  for (const bool adam : {false, true}) {
    Parameter x, y;
    x.initialize(full({1}, 3, DType::f64));
    const auto whole = make(adam, x);
    descend(*whole, x, 3);
    y.initialize(x.value.clone());
    const auto resumed = make(adam, y);
    resumed->load_state_dict(whole->state_dict());
    EXPECT_EQ(descend(*resumed, y, 3), descend(*whole, x, 3));
    EXPECT_EQ(whole->state_dict()[0].name, adam ? "step" : "0.momentum_buffer");
    resumed->load_state_dict({});
    EXPECT_TRUE(resumed->state_dict().empty());
  }
}

TEST(Optimizer, RefusesTheStateOfOthers) {
  Parameter x, y;
  x.initialize(zeros({2}));
  y.initialize(zeros({3}));
  SGD sgd({&x}, {.momentum = 0.5}), other({&y}, {.momentum = 0.5}), plain({&x});
  Adam adam({&x});
  other.step();
  adam.step();
  EXPECT_DIST_ERROR(sgd.load_state_dict(other.state_dict()), Errc::invalid_argument,
                    "SGD: \"0.momentum_buffer\" is [2] f32, the state to load has [3] f32");
  EXPECT_DIST_ERROR(sgd.load_state_dict(adam.state_dict()), Errc::invalid_argument, "SGD has no \"step\"");
  EXPECT_DIST_ERROR(plain.load_state_dict(other.state_dict()), Errc::invalid_argument, "SGD has no");
  EXPECT_TRUE(sgd.state_dict().empty());
}

TEST(Optimizer, RefusesOptionsOutOfRange) {
  Parameter x;
  x.initialize(zeros({2}));
  EXPECT_DIST_ERROR(SGD({&x}, {.lr = -1}), Errc::invalid_argument, "SGD: lr = -1 is out of range");
  EXPECT_DIST_ERROR(SGD({&x}, {.momentum = -1}), Errc::invalid_argument, "momentum = -1");
  EXPECT_DIST_ERROR(Adam({&x}, {.betas = {0.9, 1}}), Errc::invalid_argument, "Adam: beta = 1");
  EXPECT_DIST_ERROR(Adam({nullptr}), Errc::invalid_argument, "null");
  EXPECT_DIST_ERROR(AdamW({&x}, {.weight_decay = -1}), Errc::invalid_argument, "AdamW: weight_decay = -1");
  EXPECT_DIST_ERROR(SGD(std::array{ParameterGroup{{&x}, std::nullopt, -1}}), Errc::invalid_argument,
                    "lr_scale = -1");
  EXPECT_DIST_ERROR(SGD({&x, &x}), Errc::invalid_argument, "SGD: parameters 0 and 1 are the same");
  SGD sgd({&x});
  EXPECT_DIST_ERROR(sgd.set_lr(std::nan("")), Errc::invalid_argument, "lr = nan");
}

// Each would write beyond its memory.
TEST(Optimizer, RefusesParametersOfAnotherKindThanItsMemory) {
  Parameter x;
  x.initialize(ones({3}, DType::f16));
  EXPECT_DIST_ERROR(SGD({&x}).step(), Errc::invalid_argument,
                    "SGD: parameter 0 is [3] f16 on cpu, bf16, f32 or f64");
  EXPECT_DIST_ERROR(Adam({&x}).step(), Errc::invalid_argument, "Adam: parameter 0 is [3] f16");
  x.initialize(ones({3}));
  x.grad = ones({3}, DType::f64);
  EXPECT_DIST_ERROR(SGD({&x}).step(), Errc::invalid_argument,
                    "the gradient of parameter 0 is [3] f64 on cpu");
  x.initialize(ones({3}));
  SGD sgd({&x}, {.momentum = 0.5});
  sgd.step();
  x.initialize(ones({3}, DType::f64));
  EXPECT_DIST_ERROR(sgd.step(), Errc::invalid_argument,
                    "SGD: its \"0.momentum_buffer\" is [3] f32 on cpu, parameter 0 is [3] f64");
  EXPECT_EQ(x.value.to_vector<int>(), (std::vector<int>{1, 1, 1}));
}

// The first step is lr whatever the betas are, in f32 too.
TEST(Adam, RoundsWhatIsLeftOfOneOnce) {
  for (const double beta2 : {0.999, 0.999999, 0.99999999}) {
    Parameter x;
    x.initialize(zeros({1}));
    Adam adam({&x}, {.lr = 1, .betas = {0.9, beta2}, .eps = 0});
    x.grad.fill_(1);
    adam.step();
    EXPECT_NEAR(x.value.item<double>(), -1, 1e-6) << beta2;
  }
}

TEST(Optimizer, ZeroesGradientsInPlace) {
  Parameter x;
  x.initialize(ones({2}));
  const Tensor view = x.grad.fill_(3);
  SGD({&x}).zero_grad();
  EXPECT_EQ(view.to_vector<int>(), (std::vector<int>{0, 0}));
}

}  // namespace
}  // namespace dist::nn
