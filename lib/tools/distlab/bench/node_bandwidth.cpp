#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <span>

#include <sys/mman.h>
#include <unistd.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "dist/core/fail.h"

#include "distlab/bench/measure.h"

namespace distlab::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Bytes = std::unique_ptr<void, void (*)(void*)>;

constexpr std::size_t page_bytes = std::size_t{2} << 20;  // the size of Linux's huge pages

std::size_t whole_pages(std::size_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

// Calls `share_done` with a number from 0 to 1 now and then: some systems take seconds to find the pages.
Bytes touched_pages(std::size_t bytes, int value, const std::function<void(double)>& share_done) {
  constexpr std::size_t pieces = 16;
  Bytes memory(std::aligned_alloc(page_bytes, bytes), std::free);
  if (!memory)
    dist::fail(dist::Errc::resource, "there is no memory for {} bytes with which to measure the bandwidth",
               bytes);
  madvise(memory.get(), bytes,
          MADV_HUGEPAGE);  // much faster; a system without huge pages refuses, which does not matter
  const std::span all(static_cast<std::byte*>(memory.get()), bytes);
  for (std::size_t i = 0; i < pieces; ++i) {
    const auto begin = bytes * i / pieces, end = bytes * (i + 1) / pieces;
    std::memset(all.subspan(begin).data(), value, end - begin);
    share_done(static_cast<double>(i + 1) / pieces);
  }
  return memory;
}

void copy_plainly(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

// Copies with stores that bypass the caches, so that a line need not be read before it is written. Takes
// whole, aligned lines.
void copy_streaming(void* to, const void* from, std::size_t bytes) {
#ifdef __SSE2__
  auto* out = static_cast<__m128i*>(to);
  const auto* in = static_cast<const __m128i*>(from);
  for (std::size_t i = 0; i < bytes / sizeof(__m128i); i += 4) {
    const __m128i a = _mm_load_si128(in + i), b = _mm_load_si128(in + i + 1);
    const __m128i c = _mm_load_si128(in + i + 2), d = _mm_load_si128(in + i + 3);
    _mm_stream_si128(out + i, a);
    _mm_stream_si128(out + i + 1, b);
    _mm_stream_si128(out + i + 2, c);
    _mm_stream_si128(out + i + 3, d);
  }
  _mm_sfence();
#else
  copy_plainly(to, from, bytes);
#endif
}

// The buffers of all ranks together are several times as large as the last cache.
std::size_t bytes_a_rank(int ranks) {
  constexpr std::size_t least = std::size_t{16} << 20, usual_cache = std::size_t{32} << 20;
  const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  const std::size_t last = cache > 0 ? static_cast<std::size_t>(cache) : usual_cache;
  return whole_pages(std::max(least, 4 * last / static_cast<std::size_t>(ranks)));
}

}  // namespace

double node_bandwidth(int ranks, int rounds, const std::function<void(double)>& share_done) {
  constexpr double of_pages = 0.45;  // of all the work; twice that, and the rest is copying
  const std::size_t bytes = bytes_a_rank(ranks);
  const auto tell = [&](double share) {
    if (share_done) share_done(share);
  };
  const Bytes from = touched_pages(bytes, 1, [&](double share) { tell(of_pages * share); });
  const Bytes to = touched_pages(bytes, 2, [&](double share) { tell(of_pages * (1 + share)); });
  std::vector<double> seconds;
  for (int i = 0; i < rounds; ++i) {
    for (const auto copy : {copy_plainly, copy_streaming}) {
      dist::barrier();
      const auto begin = Clock::now();
      copy(to.get(), from.get(), bytes);
      seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    }
  }
  const double best = std::ranges::min(largest_of_all(seconds));
  return 2 * static_cast<double>(bytes) * ranks / best;
}

}  // namespace distlab::bench
