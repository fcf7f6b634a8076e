// Loops compiled for several vector instruction sets; the best one that this CPU has is chosen at run time.
// (Not by target_clones: its resolvers run before sanitizers are ready, and templates cannot carry it.)
#pragma once

#include <cstdint>

// Goes before a loop whose arrays are the same or do not overlap, so that no iteration reads what another
// writes.
#ifdef __clang__
#define DIST_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#else
#define DIST_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

namespace dist {

enum class SimdLevel : std::uint8_t {
  baseline,
  avx2,    // and F16C, which every CPU with AVX2 has
  avx512,  // F, BW, DQ and VL
};

SimdLevel simd_level();

#ifdef __x86_64__
template <class Body>
[[gnu::target("avx2"), gnu::flatten]] void run_avx2(const Body& body) {
  body();
}
template <class Body>
[[gnu::target("avx2,avx512f,avx512bw,avx512dq,avx512vl"), gnu::flatten]] void run_avx512(const Body& body) {
  body();
}
#else
template <class Body>
void run_avx2(const Body& body) {
  body();
}
template <class Body>
void run_avx512(const Body& body) {
  body();
}
#endif

// Runs `body()`, a loop whose calls can all be inlined.
template <class Body>
void vectorised(const Body& body) {
  switch (simd_level()) {
    case SimdLevel::baseline: return body();
    case SimdLevel::avx2: return run_avx2(body);
    case SimdLevel::avx512: return run_avx512(body);
  }
}

}  // namespace dist
