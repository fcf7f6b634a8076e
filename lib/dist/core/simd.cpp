#include "dist/core/simd.h"

namespace dist {

SimdLevel simd_level() {
#ifdef __x86_64__
  static const SimdLevel level = [] {
    if (!__builtin_cpu_supports("avx2")) return SimdLevel::baseline;
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return wide ? SimdLevel::avx512 : SimdLevel::avx2;
  }();
  return level;
#else
  return SimdLevel::baseline;
#endif
}

}  // namespace dist
