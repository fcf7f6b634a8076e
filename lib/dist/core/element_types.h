// The types of C++ that tensors have as elements, for explicit instantiations: one list for all of them.
#pragma once

#include <cstdint>

#include "dist/core/half.h"

// DO(T) for each of them.
#define DIST_FOR_EACH_ELEMENT_TYPE(DO) \
  DO(std::uint8_t)                     \
  DO(std::int8_t)                      \
  DO(std::int32_t)                     \
  DO(std::int64_t)                     \
  DO(::dist::Half)                     \
  DO(::dist::BFloat16)                 \
  DO(float)                            \
  DO(double)                           \
  DO(bool)
