#include "dist/core/half.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "dist/core/half_convert.h"

namespace dist {
namespace {

constexpr int patterns = 65536;

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

// The value of a pattern with `exponent_bits` and `fraction_bits`, by the definition of the format.
double value_by_definition(int pattern, int exponent_bits, int fraction_bits) {
  const int fraction = pattern & ((1 << fraction_bits) - 1);
  const int exponent = pattern >> fraction_bits & ((1 << exponent_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = pattern >> 15 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return fraction ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

template <class T>
struct Format;
template <>
struct Format<Half> {
  static constexpr int exponent = 5, fraction = 10, infinity = 0x7c00;
};
template <>
struct Format<BFloat16> {
  static constexpr int exponent = 8, fraction = 7, infinity = 0x7f80;
};

template <class T>
T from_bits(int pattern) {
  T value;
  value.bits = static_cast<std::uint16_t>(pattern);
  return value;
}

template <class T>
class HalfTest : public testing::Test {};
using Formats = testing::Types<Half, BFloat16>;
TYPED_TEST_SUITE(HalfTest, Formats);

TYPED_TEST(HalfTest, EveryPatternHasTheValueOfItsFormat) {
  for (int pattern = 0; pattern < patterns; ++pattern) {
    const float value = from_bits<TypeParam>(pattern);
    const double expected =
        value_by_definition(pattern, Format<TypeParam>::exponent, Format<TypeParam>::fraction);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << pattern;
    } else {
      ASSERT_EQ(value, expected) << pattern;
      ASSERT_EQ(std::signbit(value), pattern >= 0x8000) << pattern;
    }
  }
}

TYPED_TEST(HalfTest, EveryPatternSurvivesTheRoundTrip) {
  constexpr int infinity = Format<TypeParam>::infinity;
  constexpr int quiet = 1 << (Format<TypeParam>::fraction - 1);
  for (int pattern = 0; pattern < patterns; ++pattern) {
    const TypeParam back(static_cast<float>(from_bits<TypeParam>(pattern)));
    const bool is_nan = (pattern & 0x7fff) > infinity;
    ASSERT_EQ(back.bits, is_nan ? pattern | quiet : pattern) << "a NaN becomes quiet, all else stays";
  }
}

// Rounding can change only midway between two neighbours, so testing these points, and one float to either
// side of each, covers every decision.
TYPED_TEST(HalfTest, RoundsToNearestTiesToEvenBetweenAllNeighbours) {
  const auto encode = [](float value) { return int{TypeParam(value).bits}; };
  for (int low = 0; low + 1 < Format<TypeParam>::infinity; ++low) {
    const int high = low + 1, even = low % 2 == 0 ? low : high;
    const double a = from_bits<TypeParam>(low), b = from_bits<TypeParam>(high);
    const auto middle = static_cast<float>(a + (b - a) / 2);
    ASSERT_EQ(encode(middle), even) << low;
    ASSERT_EQ(encode(std::nextafter(middle, 0.0F)), low) << low;
    ASSERT_EQ(encode(std::nextafter(middle, HUGE_VALF)), high) << low;
    ASSERT_EQ(encode(-middle), even | 0x8000) << low;
    ASSERT_EQ(encode(-std::nextafter(middle, 0.0F)), low | 0x8000) << low;
    ASSERT_EQ(encode(-std::nextafter(middle, HUGE_VALF)), high | 0x8000) << low;
  }
}

TEST(Half, OverflowsToInfinityFromTheMiddleAboveTheLargest) {
  EXPECT_EQ(float{Half(65504.0F)}, 65504.0F);
  EXPECT_EQ(float{Half(std::nextafter(65520.0F, 0.0F))}, 65504.0F);
  EXPECT_EQ(Half(65520.0F).bits, 0x7c00);
  EXPECT_EQ(Half(-65520.0F).bits, 0xfc00);
  EXPECT_EQ(Half(1e30F).bits, 0x7c00);
  EXPECT_EQ(Half(std::numeric_limits<float>::infinity()).bits, 0x7c00);
}

TEST(Half, UnderflowsToZeroBelowHalfOfTheSmallestSubnormal) {
  const float smallest = std::ldexp(1.0F, -24);
  EXPECT_EQ(Half(smallest).bits, 1);
  EXPECT_EQ(Half(smallest / 2).bits, 0) << "a tie, zero is even";
  EXPECT_EQ(Half(std::nextafter(smallest / 2, 1.0F)).bits, 1);
  EXPECT_EQ(Half(-smallest / 4).bits, 0x8000) << "the sign stays";
  EXPECT_EQ(Half(std::numeric_limits<float>::denorm_min()).bits, 0);
}

TEST(BFloat16, OverflowsToInfinityByRounding) {
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_EQ(BFloat16(std::bit_cast<float>(0x7f7f7fffU)).bits, 0x7f7f);
  EXPECT_EQ(BFloat16(std::bit_cast<float>(0x7f7f8000U)).bits, 0x7f80) << "a tie, infinity's pattern is even";
}

TYPED_TEST(HalfTest, NaNStaysNaNWhateverItsPayload) {
  for (const std::uint32_t pattern : {0x7f800001U, 0x7fc00000U, 0x7fffffffU, 0xff800001U, 0xffffffffU}) {
    const TypeParam stored(std::bit_cast<float>(pattern));
    EXPECT_TRUE(std::isnan(float{stored})) << std::hex << pattern;
    EXPECT_EQ(stored.bits >> 15, pattern >> 31) << std::hex << pattern;
  }
}

TYPED_TEST(HalfTest, ZerosKeepTheirSign) {
  EXPECT_EQ(bits_of(TypeParam(0.0F)), bits_of(0.0F));
  EXPECT_EQ(bits_of(TypeParam(-0.0F)), bits_of(-0.0F));
}

// Whatever instructions convert a row, the bits are those of the elements one by one.
TYPED_TEST(HalfTest, RowsConvertAsTheirElements) {
  std::vector<TypeParam> all;
  for (int pattern = 0; pattern < patterns; ++pattern) all.push_back(from_bits<TypeParam>(pattern));
  std::vector<float> row(all.size());
  to_f32(all.data(), row.data(), patterns);
  for (int pattern = 0; pattern < patterns; ++pattern) {
    const float expected = all[pattern];
    ASSERT_TRUE(bits_of(row[pattern]) == bits_of(expected) ||
                (std::isnan(row[pattern]) && std::isnan(expected)))
        << pattern;
  }
}

TYPED_TEST(HalfTest, RowsOfFloatsConvertAsTheirElements) {
  std::vector<float> row;
  for (int low = 0; low < Format<TypeParam>::infinity; ++low) {
    const double a = float{from_bits<TypeParam>(low)}, b = float{from_bits<TypeParam>(low + 1)};
    const auto middle = static_cast<float>(a + (std::min(b, 1e39) - a) / 2);
    for (const float value : {middle, std::nextafter(middle, 0.0F), std::nextafter(middle, HUGE_VALF)}) {
      row.push_back(value);
      row.push_back(-value);
    }
  }
  row.insert(row.end(), {HUGE_VALF, -HUGE_VALF, 65519.996F, 65520.0F, 1e-45F});
  std::vector<TypeParam> converted(row.size());
  for (const std::size_t skipped : {0, 1, 5}) {  // tails and unaligned rows
    const std::size_t count = row.size() - skipped;
    from_f32(row.data() + skipped, converted.data(), static_cast<std::int64_t>(count));
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(converted[i].bits, TypeParam(row[i + skipped]).bits) << row[i + skipped];
  }
  const std::vector<float> nans(9, std::nanf(""));
  from_f32(nans.data(), converted.data(), 9);
  for (int i = 0; i < 9; ++i) EXPECT_TRUE(std::isnan(float{converted[i]}));
}

TEST(Half, ConvertsAtCompileTime) {
  static_assert(Half::encode(1.0F) == 0x3c00 && Half::decode(0x3c00) == 1.0F);
  static_assert(BFloat16::encode(1.0F) == 0x3f80 && BFloat16::decode(0x3f80) == 1.0F);
}

}  // namespace
}  // namespace dist
