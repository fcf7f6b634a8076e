#include "dist/core/simd.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace dist {

#ifdef __x86_64__

namespace {

// Clang 14 does not know "f16c" in __builtin_cpu_supports.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

}  // namespace

SimdLevel simd_level() {
  static const SimdLevel level = [] {
    if (!__builtin_cpu_supports("avx2") || !has_f16c()) return SimdLevel::baseline;
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return wide ? SimdLevel::avx512 : SimdLevel::avx2;
  }();
  return level;
}

#else

SimdLevel simd_level() { return SimdLevel::baseline; }

#endif

}  // namespace dist
