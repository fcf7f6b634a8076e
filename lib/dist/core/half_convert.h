// Runs of 16-bit floats to f32 and back, at the speed of the hardware's own conversions where it has them.
// The bits are those that Half and BFloat16 give for each element (for a NaN, only the sign and that it is a
// NaN).
#pragma once

#include <cstdint>

#include "dist/core/half.h"

namespace dist {

void to_f32(const Half* in, float* out, std::int64_t count);
void to_f32(const BFloat16* in, float* out, std::int64_t count);
void from_f32(const float* in, Half* out, std::int64_t count);
void from_f32(const float* in, BFloat16* out, std::int64_t count);

}  // namespace dist
