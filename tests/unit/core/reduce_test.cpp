// reduce(): every operation on every dtype against a plain reference.
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "dist/core/kernels.h"
#include "dist/core/simd.h"
#include "dist/core/tensor.h"

#include "support/expect_error.h"

namespace dist {
namespace {

__extension__ using Int128 = __int128;

constexpr std::array base_ops{ReduceOp::sum,  ReduceOp::product, ReduceOp::min, ReduceOp::max,
                              ReduceOp::band, ReduceOp::bor,     ReduceOp::bxor};

// The reference, written as differently as possible: integers exactly in 128 bits, then cut to size;
// floating point in long double, rounded once (f16, bf16: to f32 first, which is what they are computed in).
template <class T>
T reference(ReduceOp::Kind kind, T x, T y) {
  using Wide = std::conditional_t<std::is_integral_v<T>, Int128, long double>;
  const auto a = static_cast<Wide>(x), b = static_cast<Wide>(y);
  const auto narrow = [](Wide value) {
    if constexpr (std::is_same_v<T, bool>)
      return value != 0;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::uint64_t>(value));
    else if constexpr (sizeof(T) == 2)
      return T(static_cast<float>(value));
    else
      return static_cast<T>(value);
  };
  switch (kind) {
    case ReduceOp::Kind::sum:
    case ReduceOp::Kind::avg:
    case ReduceOp::Kind::premul_sum: return narrow(a + b);
    case ReduceOp::Kind::product: return narrow(a * b);
    case ReduceOp::Kind::min: return narrow(a < b ? a : b);
    case ReduceOp::Kind::max: return narrow(a < b ? b : a);
    case ReduceOp::Kind::band:
    case ReduceOp::Kind::bor:
    case ReduceOp::Kind::bxor: break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (kind == ReduceOp::Kind::band) return narrow(a & b);
    if (kind == ReduceOp::Kind::bor) return narrow(a | b);
    return narrow(a ^ b);
  }
  ADD_FAILURE() << "no reference for " << name(kind);
  return x;
}

// Integers over their whole range, so that they wrap; floating point of many magnitudes, fractions and signs.
template <class T>
T random_element(std::mt19937_64& random) {
  if constexpr (std::is_same_v<T, bool>)
    return random() % 2 == 0;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(random());
  else
    return static_cast<T>(static_cast<float>(
        std::ldexp(static_cast<double>(random() % 2001) - 1000, static_cast<int>(random() % 20) - 14)));
}

template <class T>
bool same(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return a == b;
  else
    return static_cast<double>(a) == static_cast<double>(b);
}

template <class T>
void check_against_reference(ReduceOp op, std::int64_t count, std::int64_t start) {
  std::mt19937_64 random(static_cast<std::uint64_t>(count * 31 + start));
  Tensor acc = empty({count + start}, dtype_of<T>()), in = empty({count + start}, dtype_of<T>());
  for (T& element : acc.data<T>()) element = random_element<T>(random);
  for (T& element : in.data<T>()) element = random_element<T>(random);
  const Tensor before = acc.clone();
  reduce(acc.flat().slice(start, count), in.flat().slice(start, count), op);
  for (std::int64_t i = 0; i < start; ++i)
    ASSERT_TRUE(same(acc.data<T>()[i], before.data<T>()[i])) << "written before its start";
  for (std::int64_t i = start; i < start + count; ++i) {
    const T x = before.data<T>()[i], y = in.data<T>()[i];
    ASSERT_TRUE(same(acc.data<T>()[i], reference(op.kind(), x, y)))
        << name(op.kind()) << " " << name(dtype_of<T>()) << " element " << i << " of " << count << ": "
        << static_cast<double>(x) << ", " << static_cast<double>(y) << " gave "
        << static_cast<double>(acc.data<T>()[i]);
  }
}

TEST(Reduce, EveryOperationOnEveryDtypeAtEverySizeAndAlignment) {
  for (const ReduceOp op : base_ops)
    for (const DType dtype : all_dtypes) {
      if (!is_defined(op.kind(), dtype)) continue;
      for (const std::int64_t count : {0, 1, 2, 7, 31, 64, 1000, 4099})
        for (const std::int64_t start : {0, 1, 3})
          visit_dtype(dtype, [&]<class T>() { check_against_reference<T>(op, count, start); });
    }
}

TEST(Reduce, WhatIsNotDefinedIsRefused) {
  for (const ReduceOp op : base_ops)
    for (const DType dtype : all_dtypes) {
      if (is_defined(op.kind(), dtype)) continue;
      const Tensor t = zeros({3}, dtype);
      EXPECT_DIST_ERROR(reduce(t.flat(), t.flat(), op), Errc::internal, std::string(name(op.kind())));
    }
  const Tensor t = zeros({3});
  EXPECT_DIST_ERROR(reduce(t.flat(), t.flat(), ReduceOp::avg), Errc::internal, "base operation");
  EXPECT_DIST_ERROR(reduce(t.flat(), t.flat(), ReduceOp::premul_sum(2)), Errc::internal, "base operation");
  EXPECT_DIST_ERROR(reduce(t.flat(), zeros({4}).flat(), ReduceOp::sum), Errc::internal, "3 f32 met 4 f32");
  EXPECT_DIST_ERROR(reduce(t.flat(), zeros({3}, DType::i32).flat(), ReduceOp::sum), Errc::internal, "i32");
}

TEST(Reduce, AnArrayWithItself) {
  Tensor t = arange(1000, DType::i32);
  reduce(t.flat(), t.flat(), ReduceOp::sum);
  for (std::int32_t i = 0; i < 1000; ++i)
    ASSERT_EQ(t.data<std::int32_t>()[static_cast<std::size_t>(i)], 2 * i);
}

TEST(Reduce, MinAndMaxCarryNaNFromEitherSide) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64})
    for (const ReduceOp op : {ReduceOp::min, ReduceOp::max}) {
      const double nan = std::nan("");
      const Tensor acc = tensor({nan, 1.0, nan, 1.0, -HUGE_VAL}).to(dtype);
      const Tensor in = tensor({1.0, nan, nan, 2.0, HUGE_VAL}).to(dtype);
      reduce(acc.flat(), in.flat(), op);
      const auto got = acc.to_vector<double>();
      EXPECT_TRUE(std::isnan(got[0]) && std::isnan(got[1]) && std::isnan(got[2])) << name(dtype);
      EXPECT_EQ(got[3], op == ReduceOp::min ? 1 : 2);
      EXPECT_EQ(got[4], op == ReduceOp::min ? -HUGE_VAL : HUGE_VAL);
    }
}

TEST(Reduce, IntegersWrapAround) {
  Tensor a = tensor({std::numeric_limits<std::int32_t>::max()});
  reduce(a.flat(), tensor({1}).flat(), ReduceOp::sum);
  EXPECT_EQ(a.item<std::int32_t>(), std::numeric_limits<std::int32_t>::min());
  Tensor b = tensor({std::numeric_limits<std::int64_t>::min()});
  reduce(b.flat(), tensor({std::int64_t{-1}}).flat(), ReduceOp::product);
  EXPECT_EQ(b.item<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
}

TEST(Reduce, SixteenBitFloatsAreComputedInF32AndRoundedOnce) {
  Tensor h = tensor({Half(2048.0F), Half(65504.0F)});
  reduce(h.flat(), tensor({Half(1.0F), Half(65504.0F)}).flat(), ReduceOp::sum);
  EXPECT_EQ(float{h.data<Half>()[0]}, 2048.0F) << "2049 is a tie, 2048 is even";
  EXPECT_EQ(float{h.data<Half>()[1]}, HUGE_VALF);
}

// A rank with AVX-512 and one without must get the same bits.
TEST(Simd, EveryInstructionSetGivesTheSameBits) {
  constexpr std::size_t count = 1003;
  std::mt19937_64 random(1);
  std::vector<Half> a(count), b(count), baseline(count), avx2(count), avx512(count);
  for (auto& element : a) element.bits = static_cast<std::uint16_t>(random());
  for (auto& element : b) element.bits = static_cast<std::uint16_t>(random());
  const auto into = [&](std::vector<Half>& out) {
    return [&a, &b, to = out.data()] {
      for (std::size_t i = 0; i < count; ++i) to[i] = Half(float{a[i]} * float{b[i]} + 1.0F);
    };
  };
  const auto bits_equal = [&](const std::vector<Half>& got) {
    for (std::size_t i = 0; i < count; ++i) {
      if (std::isnan(float{got[i]}) && std::isnan(float{baseline[i]})) continue;
      ASSERT_EQ(got[i].bits, baseline[i].bits) << i;
    }
  };
  into(baseline)();
  if (simd_level() >= SimdLevel::avx2) {
    run_avx2(into(avx2));
    bits_equal(avx2);
  }
  if (simd_level() >= SimdLevel::avx512) {
    run_avx512(into(avx512));
    bits_equal(avx512);
  }
}

}  // namespace
}  // namespace dist
