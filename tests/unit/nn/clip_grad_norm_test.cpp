#include "dist/nn/clip_grad_norm.h"

#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace dist::nn {
namespace {

class ClipGradNorm : public testing::Test {
 protected:
  void SetUp() override {
    x_.initialize(zeros({2}));
    y_.initialize(zeros({1, 1}));
    x_.grad.copy_(tensor({2.F, 3.F}));
    y_.grad.fill_(6);
  }

  Parameter x_, y_;
  const std::array<NamedParameter, 2> both_{NamedParameter{"x", &x_}, {"y", &y_}};
};

TEST_F(ClipGradNorm, ShortensAllGradientsTogether) {
  EXPECT_EQ(clip_grad_norm(both_, 3.5).item(), 7);
  const auto factor = static_cast<float>(3.5 / (7 + 1e-6));
  EXPECT_EQ(x_.grad.to_vector<float>(), (std::vector{2 * factor, 3 * factor}));
  EXPECT_EQ(y_.grad.item<float>(), 6 * factor);
}

TEST_F(ClipGradNorm, LeavesShorterOnesAlone) {
  for (const double max_norm : {8.0, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(clip_grad_norm(std::vector{&x_, &y_}, max_norm).item(), 7);
    EXPECT_EQ(x_.grad.to_vector<int>(), (std::vector{2, 3}));
  }
  EXPECT_EQ(clip_grad_norm(std::vector<Parameter*>(), 1).item(), 0);
}

// 1e25 squared is not an f32.
TEST_F(ClipGradNorm, AddsSquaresInF64) {
  x_.grad.fill_(1e25);
  EXPECT_NEAR(clip_grad_norm(both_, 1) / 1e25, std::sqrt(2), 1e-6);
  EXPECT_NEAR(x_.grad.to_vector<double>()[1], std::sqrt(0.5), 1e-6);
}

TEST_F(ClipGradNorm, NamesTheFirstParameterWithNan) {
  y_.grad.fill_(std::nan(""));
  EXPECT_DIST_ERROR(clip_grad_norm(both_, 1, {.error_if_nonfinite = true}), Errc::invalid_argument,
                    "clip_grad_norm: the gradient of y has norm nan");
  EXPECT_EQ(x_.grad.to_vector<int>(), (std::vector{2, 3}));
  x_.grad.data<float>()[1] = std::numeric_limits<float>::infinity();
  EXPECT_DIST_ERROR(clip_grad_norm(both_, 1, {.error_if_nonfinite = true}), Errc::invalid_argument,
                    "the gradient of x has norm inf");
  EXPECT_DIST_ERROR(clip_grad_norm(std::vector{&y_, &x_}, 1, {.error_if_nonfinite = true}),
                    Errc::invalid_argument, "the gradient of parameter 0 has norm nan");
  EXPECT_TRUE(std::isnan(clip_grad_norm(both_, 1).item()));
  EXPECT_TRUE(std::isnan(x_.grad.to_vector<float>()[0]));
}

TEST_F(ClipGradNorm, RefusesWhatItCannotAdd) {
  EXPECT_DIST_ERROR(clip_grad_norm(both_, 0), Errc::invalid_argument, "max_norm = 0 is out of range");
  EXPECT_DIST_ERROR(clip_grad_norm(both_, std::nan("")), Errc::invalid_argument, "max_norm = nan");
  y_.initialize(zeros({3}, DType::f64));
  EXPECT_DIST_ERROR(clip_grad_norm(both_, 1), Errc::invalid_argument,
                    "the gradient of y is f64 on cpu, that of x is f32 on cpu");
  y_.initialize(zeros({3}, DType::bf16));
  EXPECT_DIST_ERROR(clip_grad_norm(both_, 1), Errc::invalid_argument, "the gradient of y is bf16");
  y_.grad = {};
  EXPECT_DIST_ERROR(clip_grad_norm(both_, 1), Errc::invalid_argument, "the gradient of y is undefined");
}

}  // namespace
}  // namespace dist::nn
