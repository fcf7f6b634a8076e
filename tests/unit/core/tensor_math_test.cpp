// Element-wise arithmetic of Tensor.
#include <cmath>

#include <gtest/gtest.h>

#include "dist/core/tensor.h"

#include "support/expect_error.h"

namespace dist {
namespace {

TEST(TensorMath, ArithmeticOnEveryNumericDtype) {
  for (const DType dtype : all_dtypes) {
    if (dtype == DType::boolean) continue;
    const Tensor a = tensor({6, 8, 10}).to(dtype), b = tensor({2, 4, 5}).to(dtype);
    EXPECT_EQ((a + b).to_vector<int>(), (std::vector<int>{8, 12, 15})) << name(dtype);
    EXPECT_EQ((a - b).to_vector<int>(), (std::vector<int>{4, 4, 5})) << name(dtype);
    EXPECT_EQ((a * b).to_vector<int>(), (std::vector<int>{12, 32, 50})) << name(dtype);
    EXPECT_EQ((a * 3).to_vector<int>(), (std::vector<int>{18, 24, 30})) << name(dtype);
    EXPECT_EQ((a + b).dtype(), dtype);
    EXPECT_EQ(a.clone().add_(b, -2).to_vector<int>(), (std::vector<int>{2, 0, 0})) << name(dtype);
    EXPECT_EQ(a.clone().mul_(b).to_vector<int>(), (std::vector<int>{12, 32, 50})) << name(dtype);
    EXPECT_EQ(a.to_vector<int>(), (std::vector<int>{6, 8, 10})) << "operands stay";
    EXPECT_EQ(sum(a), 24);
    EXPECT_EQ(max(b), 5);
    if (!is_floating_point(dtype)) continue;
    EXPECT_EQ((a / b).to_vector<double>(), (std::vector<double>{3, 2, 2})) << name(dtype);
    EXPECT_EQ(a.clone().div_(4).to_vector<double>(), (std::vector<double>{1.5, 2, 2.5})) << name(dtype);
    EXPECT_EQ(a.clone().mul_(0.5).to_vector<double>(), (std::vector<double>{3, 4, 5})) << name(dtype);
    EXPECT_EQ(sqrt(tensor({0, 4, 9}).to(dtype)).to_vector<double>(), (std::vector<double>{0, 2, 3}))
        << name(dtype);
    EXPECT_EQ(exp(zeros({2}, dtype)).to_vector<double>(), (std::vector<double>{1, 1})) << name(dtype);
  }
}

TEST(TensorMath, UnsignedNumbersTakeNegativeFactorsAndWrap) {
  const Tensor t = tensor({std::uint8_t{1}, std::uint8_t{2}});
  EXPECT_EQ((t * -1).to_vector<int>(), (std::vector<int>{255, 254}));
  EXPECT_EQ(t.clone().add_(t, -3).to_vector<int>(), (std::vector<int>{254, 252}));
}

TEST(TensorMath, ExpAndSqrtAreTheStandardLibrarys) {
  const Tensor t = tensor({-2.0, 0.5, 3.0});
  EXPECT_EQ(exp(t).to_vector<double>(), (std::vector<double>{std::exp(-2.0), std::exp(0.5), std::exp(3.0)}));
  EXPECT_TRUE(std::isnan(sqrt(t).to_vector<double>()[0]));
}

TEST(TensorMath, SumsAreAccumulatedInDouble) {
  EXPECT_EQ(sum(full({1 << 20}, 0.5, DType::f16)), 1 << 19);
  EXPECT_EQ(sum(tensor({true, true, false})), 2);
}

TEST(TensorMath, EqualComparesShapeDtypeAndElements) {
  const Tensor t = tensor({1, 2});
  EXPECT_TRUE(equal(t, t.clone()));
  EXPECT_FALSE(equal(t, t.view({2, 1})));
  EXPECT_FALSE(equal(t, t.to(DType::i64)));
  EXPECT_FALSE(equal(t, tensor({1, 3})));
  EXPECT_TRUE(equal(tensor({Half(1.F)}), tensor({Half(1.F)})));
}

TEST(TensorMath, OperandsMayBeOneTensorButNotOverlapInPart) {
  Tensor t = arange(10), all = t.clone();
  all.add_(all).mul_(all);
  EXPECT_EQ(all.to_vector<int>()[9], 18 * 18);
  EXPECT_DIST_ERROR(t.narrow(0, 5).add_(t.narrow(1, 5)), Errc::invalid_argument, "clone() the input");
  EXPECT_DIST_ERROR(t.narrow(0, 5).add_(t.narrow(1, 5), 2), Errc::invalid_argument, "overlaps");
  EXPECT_DIST_ERROR(t.narrow(3, 5).copy_(t.narrow(0, 5)), Errc::invalid_argument, "overlaps");
  t.narrow(5, 5).copy_(t.narrow(0, 5)).add_(t.narrow(0, 5));
  EXPECT_EQ(t.to_vector<int>(), (std::vector<int>{0, 1, 2, 3, 4, 0, 2, 4, 6, 8}));
  EXPECT_EQ((t.narrow(0, 5) + t.narrow(1, 5)).to_vector<int>(), (std::vector<int>{1, 3, 5, 7, 4}));
}

TEST(TensorMath, MisuseIsRefused) {
  const Tensor f = ones({3}), i = ones({3}, DType::i32), b = ones({3}, DType::boolean);
  EXPECT_DIST_ERROR(f + ones({4}), Errc::invalid_argument, ": shapes [3] and [4] differ");
  EXPECT_DIST_ERROR(f * i, Errc::invalid_argument, ": dtypes f32 and i32 differ");
  EXPECT_DIST_ERROR(b + b, Errc::invalid_argument, "bool tensors have no arithmetic");
  EXPECT_DIST_ERROR(i / i, Errc::invalid_argument, "floating point");
  EXPECT_DIST_ERROR(i.clone().div_(2), Errc::invalid_argument, "floating point");
  EXPECT_DIST_ERROR(i.clone().mul_(0.5), Errc::invalid_argument, "without a loss");
  EXPECT_DIST_ERROR(i.clone().add_(i, 0.5), Errc::invalid_argument, "without a loss");
  EXPECT_DIST_ERROR(exp(i), Errc::invalid_argument, "floating point");
  EXPECT_DIST_ERROR(max(zeros({0})), Errc::invalid_argument, "no elements");
}

}  // namespace
}  // namespace dist
