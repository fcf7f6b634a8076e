#include "dist/core/half_convert.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "dist/core/simd.h"

namespace dist {

namespace {

// out[i] = Out(in[i]), in whatever vectors the compiler makes of it.
template <class Out, class In>
void convert_each(const In* in, Out* out, std::int64_t count) {
  vectorised([=] {
    const In* const from = in;
    Out* const to = out;
    const std::int64_t n = count;
    DIST_INDEPENDENT_ITERATIONS
    for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<Out>(from[i]);
  });
}

// F16C converts eight elements at a time. Both functions return how many they did; convert_each does the
// rest.
#ifdef __x86_64__
[[gnu::target("avx,f16c")]] std::int64_t with_f16c(const Half* in, float* out, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
  return i;
}
[[gnu::target("avx,f16c")]] std::int64_t with_f16c(const float* in, Half* out, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  return i;
}
#else
std::int64_t with_f16c(const Half*, float*, std::int64_t) { return 0; }
std::int64_t with_f16c(const float*, Half*, std::int64_t) { return 0; }
#endif

}  // namespace

void to_f32(const Half* in, float* out, std::int64_t count) {
  const std::int64_t done = simd_level() == SimdLevel::baseline ? 0 : with_f16c(in, out, count);
  convert_each(in + done, out + done, count - done);
}

void from_f32(const float* in, Half* out, std::int64_t count) {
  const std::int64_t done = simd_level() == SimdLevel::baseline ? 0 : with_f16c(in, out, count);
  convert_each(in + done, out + done, count - done);
}

void to_f32(const BFloat16* in, float* out, std::int64_t count) { convert_each(in, out, count); }
void from_f32(const float* in, BFloat16* out, std::int64_t count) { convert_each(in, out, count); }

}  // namespace dist
