// 16-bit floating point as storage: conversion to and from float, round to nearest even.
#pragma once

#include <bit>
#include <cstdint>

namespace dist {

// IEEE 754 binary16 (1 sign, 5 exponent, 10 fraction bits). Overflow becomes infinity, NaN stays NaN.
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  Half(float value);           // NOLINT: converts like a built-in type
  operator float() const;      // NOLINT
};

// bfloat16: the upper half of a float (1 sign, 8 exponent, 7 fraction bits).
struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  BFloat16(float value);       // NOLINT
  operator float() const;      // NOLINT
};

}  // namespace dist
