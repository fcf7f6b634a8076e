#include "dist/core/copy_bytes.h"

#include <cstdint>
#include <cstring>

#include "dist/core/sanitizer.h"

#ifdef __x86_64__
#include <emmintrin.h>
#endif

namespace dist {
namespace {

#ifdef __x86_64__

constexpr std::size_t line = 64;  // bytes of a cache line

// `to` begins a line.
template <void store(__m128i*, __m128i)>
void copy_lines(std::byte* to, const std::byte* from, std::size_t lines) {
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

template <void store(__m128i*, __m128i)>
void copy_by(std::byte* to, const std::byte* from, std::size_t bytes) {
  const std::size_t head = (line - reinterpret_cast<std::uintptr_t>(to) % line) % line;
  const std::size_t lines = (bytes - head) / line, tail = head + lines * line;
  std::memcpy(to, from, head);
  copy_lines<store>(to + head, from + head, lines);
  std::memcpy(to + tail, from + tail, bytes - tail);
}

void cached(__m128i* to, __m128i value) { _mm_store_si128(to, value); }
void streamed(__m128i* to, __m128i value) { _mm_stream_si128(to, value); }

#endif

}  // namespace

void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes, [[maybe_unused]] std::size_t whole) {
#ifdef __x86_64__
  constexpr std::size_t least = 4096;
  // ThreadSanitizer and AddressSanitizer see all that memcpy does, and of vector stores not those that
  // stream.
  constexpr bool is_unchecked = !built_with_asan && !built_with_tsan;
  if (is_unchecked && bytes >= least) {
    if (whole < past_cache_bytes) return copy_by<cached>(to, from, bytes);
    copy_by<streamed>(to, from, bytes);
    return _mm_sfence();  // these stores keep no order by themselves
  }
#endif
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace dist
