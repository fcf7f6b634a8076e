// Copies of host memory. A large copy goes past the caches: its writes would evict other data, and the lines
// would first be read from memory only to be overwritten (a third of the traffic). From 4 KiB on it uses
// vector loads and stores as wide as the CPU has: for data that is not in this core's cache, memcpy's "rep
// movsb" can take twice as long when the two addresses happen to be an unlucky pair.
#pragma once

#include <cstddef>

#include "dist/core/simd.h"

namespace dist {

// Copies of at least this size go past the caches: half of a second-level cache.
inline constexpr std::size_t past_cache_bytes = std::size_t{256} << 10;

// Like memcpy. `whole`: the bytes of the copy that this is a part of. A thread that sees a later store of
// this thread sees the copy.
void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes, std::size_t whole);
inline void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  copy_bytes(to, from, bytes, bytes);
}

#ifdef __x86_64__
// How a CPU of that level copies whole cache lines to the start of a line: through the caches, and past them.
using CopyLines = void(std::byte* to, const std::byte* from, std::size_t lines);
struct LineCopiers {
  CopyLines *cached, *streamed;
};
LineCopiers line_copiers(SimdLevel level);
#endif

}  // namespace dist
