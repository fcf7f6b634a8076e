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

// `to` begins a line.
template <void store(__m128i*, __m128i)>
void copy_by_sse(std::byte* to, const std::byte* from, std::size_t lines) {
  auto* out = reinterpret_cast<__m128i*>(to);
  const auto* in = reinterpret_cast<const __m128i*>(from);
  for (std::size_t i = 0; i < lines; ++i, out += 4, in += 4) {
    const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1), c = _mm_loadu_si128(in + 2),
                  d = _mm_loadu_si128(in + 3);
    store(out, a);
    store(out + 1, b);
    store(out + 2, c);
    store(out + 3, d);
  }
}

void cached(__m128i* to, __m128i value) { _mm_store_si128(to, value); }
void streamed(__m128i* to, __m128i value) { _mm_stream_si128(to, value); }

// In registers as wide as the CPU has: more lines are then on the way at a time.
[[gnu::target("avx2")]] void copy_cached_avx2(std::byte* to, const std::byte* from, std::size_t lines) {
  for (const std::byte* const end = to + lines * line; to != end; to += line, from += line) {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from) + 1);
    _mm256_store_si256(reinterpret_cast<__m256i*>(to), a);
    _mm256_store_si256(reinterpret_cast<__m256i*>(to) + 1, b);
  }
}

[[gnu::target("avx512f")]] void copy_cached_avx512(std::byte* to, const std::byte* from, std::size_t lines) {
  for (; lines >= 2; lines -= 2, to += 2 * line, from += 2 * line) {
    const __m512i a = _mm512_loadu_si512(from), b = _mm512_loadu_si512(from + line);
    _mm512_store_si512(to, a);
    _mm512_store_si512(to + line, b);
  }
  if (lines > 0) _mm512_store_si512(to, _mm512_loadu_si512(from));
}

void copy_streamed(std::byte* to, const std::byte* from, std::size_t lines) {
  copy_by_sse<streamed>(to, from, lines);
  _mm_sfence();  // these stores keep no order by themselves
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
CopyLines* copy_lines_by(SimdLevel level) {
  switch (level) {
    case SimdLevel::baseline: break;
    case SimdLevel::avx2: return copy_cached_avx2;
    case SimdLevel::avx512: return copy_cached_avx512;
  }
  return copy_by_sse<cached>;
}
#endif

void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes, [[maybe_unused]] std::size_t whole) {
#ifdef __x86_64__
  constexpr std::size_t least = 4096;
  // ThreadSanitizer and AddressSanitizer see all that memcpy does, and of vector stores not those that
  // stream.
  constexpr bool is_unchecked = !built_with_asan && !built_with_tsan;
  if (is_unchecked && bytes >= least)
    return whole < past_cache_bytes ? copy_by(*copy_lines_by(simd_level()), to, from, bytes)
                                    : copy_by(copy_streamed, to, from, bytes);
#endif
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace dist
