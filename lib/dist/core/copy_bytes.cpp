// Copies of whole cache lines on x86, by SSE, AVX2 and AVX-512, through the caches or past them, and
// copy_bytes(), which chooses one of them. Small copies, and other CPUs, use memcpy.
#include "dist/core/copy_bytes.h"

#include <cstdint>
#include <cstring>

#include "dist/core/sanitizer.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace dist {
namespace {

#ifdef __x86_64__

constexpr std::size_t line = 64;  // bytes of a cache line

// In all the loops below, `to` is the start of a cache line, and one line is copied at a time. With two,
// copying data that is not in this core's cache takes 5 to 25 % longer.

enum class To { cache, memory };

template <To place>
void copy_by_sse(std::byte* to, const std::byte* from, std::size_t lines) {
  constexpr auto store = [](__m128i* at, __m128i value) {
    place == To::cache ? _mm_store_si128(at, value) : _mm_stream_si128(at, value);
  };
  for (const std::byte* const end = to + lines * line; to != end; to += line, from += line) {
    auto* const out = reinterpret_cast<__m128i*>(to);
    const auto* const in = reinterpret_cast<const __m128i*>(from);
    const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1), c = _mm_loadu_si128(in + 2),
                  d = _mm_loadu_si128(in + 3);
    store(out, a);
    store(out + 1, b);
    store(out + 2, c);
    store(out + 3, d);
  }
}

// Registers as wide as the CPU has: more lines are then in flight at a time.
template <To place>
[[gnu::target("avx2")]] void copy_by_avx2(std::byte* to, const std::byte* from, std::size_t lines) {
  for (const std::byte* const end = to + lines * line; to != end; to += line, from += line) {
    auto* const out = reinterpret_cast<__m256i*>(to);
    const auto* const in = reinterpret_cast<const __m256i*>(from);
    const __m256i a = _mm256_loadu_si256(in), b = _mm256_loadu_si256(in + 1);
    if constexpr (place == To::cache) {
      _mm256_store_si256(out, a);
      _mm256_store_si256(out + 1, b);
    } else {
      _mm256_stream_si256(out, a);
      _mm256_stream_si256(out + 1, b);
    }
  }
}

[[gnu::target("avx512f")]] void copy_by_avx512(std::byte* to, const std::byte* from, std::size_t lines) {
  for (const std::byte* const end = to + lines * line; to != end; to += line, from += line)
    _mm512_store_si512(to, _mm512_loadu_si512(from));
}

void copy_by(CopyLines& copy_lines, std::byte* to, const std::byte* from, std::size_t bytes) {
  const std::size_t head = (line - reinterpret_cast<std::uintptr_t>(to) % line) % line;
  const std::size_t lines = (bytes - head) / line, tail = head + lines * line;
  std::memcpy(to, from, head);
  copy_lines(to + head, from + head, lines);
  std::memcpy(to + tail, from + tail, bytes - tail);
}

#endif

}  // namespace

#ifdef __x86_64__
LineCopiers line_copiers(SimdLevel level) {
  switch (level) {
    case SimdLevel::baseline: break;
    case SimdLevel::avx2: return {copy_by_avx2<To::cache>, copy_by_avx2<To::memory>};
    case SimdLevel::avx512: return {copy_by_avx512, copy_by_avx2<To::memory>};
  }
  return {copy_by_sse<To::cache>, copy_by_sse<To::memory>};
}
#endif

void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes, [[maybe_unused]] std::size_t whole) {
#ifdef __x86_64__
  constexpr std::size_t least = 4096;
  // ThreadSanitizer and AddressSanitizer see all that memcpy does, but not the vector stores that stream.
  constexpr bool is_unchecked = !built_with_asan && !built_with_tsan;
  if (is_unchecked && bytes >= least) {
    const LineCopiers copiers = line_copiers(simd_level());
    if (whole < past_cache_bytes) return copy_by(*copiers.cached, to, from, bytes);
    copy_by(*copiers.streamed, to, from, bytes);
    return _mm_sfence();  // streamed stores are not ordered by themselves
  }
#endif
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace dist
