// The other kernels: copy, fill, scale, divide, convert.
#include "dist/core/kernels.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "dist/core/tensor.h"

#include "support/expect_error.h"

namespace dist {
namespace {

TEST(Fill, EveryDtypeAtEverySize) {
  for (const DType dtype : all_dtypes)
    for (const std::int64_t count : {0, 1, 7, 1000}) {
      const Tensor t = full({count}, 3, dtype);
      for (const double element : t.to_vector<double>()) ASSERT_EQ(element, dtype == DType::boolean ? 1 : 3);
    }
}

TEST(Fill, SaturatesIntegersAndTruncates) {
  EXPECT_EQ(full({}, 300, DType::u8).item<int>(), 255);
  EXPECT_EQ(full({}, -300, DType::i8).item<int>(), -128);
  EXPECT_EQ(full({}, -2.9, DType::i32).item<int>(), -2);
  EXPECT_EQ(full({}, 1e30, DType::i64).item<std::int64_t>(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(full({}, std::nan(""), DType::i32).item<int>(), 0);
  EXPECT_EQ(full({}, 0.5, DType::boolean).item<int>(), 1);
}

TEST(Copy, MovesEveryByteAndRefusesDifferentCounts) {
  for (const DType dtype : all_dtypes)
    for (const std::int64_t count : {0, 1, 7, 1000}) {
      const Tensor from = arange(count, dtype);
      const Tensor to = zeros({count}, dtype);
      copy(to.flat(), from.flat());
      ASSERT_TRUE(equal(to, from)) << name(dtype) << " " << count;
    }
  EXPECT_DIST_ERROR(copy(zeros({3}).flat(), zeros({4}).flat()), Errc::internal, "3 f32 met 4 f32");
  EXPECT_DIST_ERROR(copy(zeros({3}).flat(), zeros({3}, DType::i32).flat()), Errc::internal, "i32");
}

TEST(Copy, ToAllMovesEveryByteToEach) {
  for (const std::int64_t count : {0, 1, 4096, 5000, 300'001}) {
    const Tensor in = arange(count);
    const Tensor outs = full({3, count + 1}, -1);
    std::vector<TensorView> views{in.flat()};  // its own position is among them
    for (int i = 0; i < 3; ++i) views.push_back(outs.flat().slice(i * (count + 1), count));
    copy_to_all(views, in.flat());
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(equal(outs[i].narrow(0, count), arange(count))) << count;
      EXPECT_EQ(outs[i][count].item<float>(), -1) << count;
    }
    EXPECT_TRUE(equal(in, arange(count)));
  }
}

TEST(Copy, ToAllRefusesWhatCopyRefuses) {
  const Tensor data = arange(20'000);
  const TensorView in = data.flat().slice(0, 10'000);
  const std::vector<TensorView> shifted{data.flat().slice(1, 10'000)}, longer{data.flat()};
  EXPECT_DIST_ERROR(copy_to_all(shifted, in), Errc::invalid_argument, "overlaps");
  EXPECT_DIST_ERROR(copy_to_all(longer, in), Errc::internal, "equal counts");
  EXPECT_TRUE(equal(data, arange(20'000)));
}

TEST(Scale, FloatingPointOnly) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const Tensor t = arange(100, dtype);
    scale(t.flat(), 0.5);
    EXPECT_EQ(t.to_vector<double>()[99], 49.5);
  }
  EXPECT_DIST_ERROR(scale(zeros({3}, DType::i32).flat(), 2), Errc::internal, "i32");
}

TEST(Divide, IntegersTruncateTowardsZero) {
  for (const DType dtype : {DType::i8, DType::i32, DType::i64}) {
    const Tensor t = tensor({-7, -3, -2, 0, 2, 3, 7}).to(dtype);
    divide(t.flat(), 3);
    EXPECT_EQ(t.to_vector<int>(), (std::vector<int>{-2, -1, 0, 0, 0, 1, 2})) << name(dtype);
  }
}

TEST(Divide, ByMoreThanTheElementTypeHolds) {
  const Tensor bytes = tensor({std::int8_t{-128}, std::int8_t{127}});
  divide(bytes.flat(), 24576);
  EXPECT_EQ(bytes.to_vector<int>(), (std::vector<int>{0, 0}));
  const Tensor unsigned_bytes = full({3}, 255, DType::u8);
  divide(unsigned_bytes.flat(), 2);
  EXPECT_EQ(unsigned_bytes.to_vector<int>(), (std::vector<int>{127, 127, 127}));
}

TEST(Divide, FloatingPointIsExactWhereItCanBe) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const Tensor t = tensor({3.0, 6.0, -9.0}).to(dtype);
    divide(t.flat(), 3);
    EXPECT_EQ(t.to_vector<double>(), (std::vector<double>{1, 2, -3})) << name(dtype);
  }
  EXPECT_DIST_ERROR(divide(zeros({1}).flat(), 0), Errc::internal, "not positive");
  EXPECT_DIST_ERROR(divide(zeros({1}, DType::boolean).flat(), 2), Errc::internal, "bool");
}

TEST(Convert, BetweenAllDtypesSmallNumbersStayThemselves) {
  for (const DType from : all_dtypes)
    for (const DType to : all_dtypes) {
      const bool through_bool = from == DType::boolean || to == DType::boolean;
      const Tensor t = arange(100, from).to(to);
      const auto values = t.to_vector<std::int64_t>();
      for (std::int64_t i = 0; i < 100; ++i)
        ASSERT_EQ(values[static_cast<std::size_t>(i)], through_bool ? i != 0 : i)
            << name(from) << " to " << name(to);
    }
}

TEST(Convert, SaturatesFromFloatingPointAndWrapsBetweenIntegers) {
  const Tensor real = tensor({-1e10F, -128.9F, -1.5F, 1.5F, 127.9F, 300.0F, std::nanf(""), HUGE_VALF});
  EXPECT_EQ(real.to(DType::i8).to_vector<int>(), (std::vector<int>{-128, -128, -1, 1, 127, 127, 0, 127}));
  EXPECT_EQ(real.to(DType::u8).to_vector<int>(), (std::vector<int>{0, 0, 0, 1, 127, 255, 0, 255}));
  EXPECT_EQ(tensor({300, -1, 255}).to(DType::u8).to_vector<int>(), (std::vector<int>{44, 255, 255}));
  EXPECT_EQ(tensor({std::int64_t{1} << 40}).to(DType::i32).item<int>(), 0);
  EXPECT_EQ(tensor({16777217}).to(DType::f32).item<double>(), 16777216) << "f32 has 24 bits";
}

}  // namespace
}  // namespace dist
