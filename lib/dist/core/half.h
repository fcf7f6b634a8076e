// 16-bit floating point as storage: conversion to and from float, rounded to nearest even. Plain integer
// code: it gives the same bits with every compiler, on a CPU and on a GPU, and loops over it vectorise.
#pragma once

#include <cstdint>

#include "dist/core/host_device.h"

namespace dist {

// IEEE 754 binary16 (1 sign, 5 exponent, 10 fraction bits). Overflow becomes infinity, NaN stays NaN.
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  DIST_HD Half(float value) : bits(encode(value)) {}       // NOLINT: converts like a built-in type
  DIST_HD operator float() const { return decode(bits); }  // NOLINT

  DIST_HD static constexpr std::uint16_t encode(float value);
  DIST_HD static constexpr float decode(std::uint16_t half);
};

// bfloat16: the upper half of a float (1 sign, 8 exponent, 7 fraction bits).
struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  DIST_HD BFloat16(float value) : bits(encode(value)) {}   // NOLINT
  DIST_HD operator float() const { return decode(bits); }  // NOLINT

  DIST_HD static constexpr std::uint16_t encode(float value);
  DIST_HD static constexpr float decode(std::uint16_t bfloat) {
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(bfloat) << 16);
  }
};

constexpr std::uint16_t Half::encode(float value) {
  const auto all = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t sign = all >> 16 & 0x8000U;
  const std::uint32_t magnitude = all & 0x7fffffffU;
  // Exponent rebased from 127 to 15; the fraction's 13 lowest bits are rounded off, ties to even.
  const std::uint32_t normal = (magnitude - (112U << 23) + 0xfffU + (magnitude >> 13 & 1)) >> 13;
  // Below 2^-14: adding 0.5 leaves multiples of 2^-24, a subnormal half's unit, rounded by the addition
  // itself.
  const float lifted = __builtin_bit_cast(float, magnitude < 0x38800000U ? magnitude : 0U) + 0.5F;
  const std::uint32_t subnormal = __builtin_bit_cast(std::uint32_t, lifted) - 0x3f000000U;
  const std::uint32_t nan = 0x7e00U | (magnitude >> 13 & 0x3ffU);  // quiet, its payload kept
  std::uint32_t half = magnitude < 0x38800000U ? subnormal : normal;
  half = magnitude >= 0x477ff000U ? 0x7c00U : half;  // 65520 and above round to infinity
  half = magnitude > 0x7f800000U ? nan : half;
  return static_cast<std::uint16_t>(sign | half);
}

constexpr float Half::decode(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t magnitude = half & 0x7fffU;
  // Exponent rebased from 15 to 127; infinity and NaN (exponent 31) get the largest one.
  const std::uint32_t normal = (magnitude << 13) + (magnitude >= 0x7c00U ? 224U << 23 : 112U << 23);
  const float unit = 1.0F / (1 << 24);  // the unit of a subnormal
  const auto subnormal =
      __builtin_bit_cast(std::uint32_t, static_cast<float>(static_cast<int>(magnitude)) * unit);
  return __builtin_bit_cast(float, sign | (magnitude < 0x400U ? subnormal : normal));
}

constexpr std::uint16_t BFloat16::encode(float value) {
  const auto all = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t rounded =
      (all + 0x7fffU + (all >> 16 & 1)) >> 16;  // ties to even; may carry to infinity
  const std::uint32_t nan = all >> 16 | 0x40U;  // quiet
  return static_cast<std::uint16_t>((all & 0x7fffffffU) > 0x7f800000U ? nan : rounded);
}

}  // namespace dist
