// Copies of host memory. A large one goes past the caches: what it writes would push out what is in them, and
// would first be read from memory only to be overwritten there (a third of the traffic).
// From 4 KiB on it is vector loads and stores, as wide as the CPU has them: memcpy's "rep movsb" can take
// twice as long for data that is not in this core's cache, where the two addresses lie unluckily in memory.
#pragma once

#include <cstddef>

#include "dist/core/simd.h"

namespace dist {

// From this size on, half of a second-level cache and more.
inline constexpr std::size_t past_cache_bytes = std::size_t{256} << 10;

// As memcpy. `whole`: bytes of what this is a part of. Whoever sees a later store of this thread sees the
// copy.
void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes, std::size_t whole);
inline void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  copy_bytes(to, from, bytes, bytes);
}

#ifdef __x86_64__
// How whole cache lines are copied, to where one begins, by a CPU of that level: through the caches, and past
// them.
using CopyLines = void(std::byte* to, const std::byte* from, std::size_t lines);
struct LineCopiers {
  CopyLines *cached, *streamed;
};
LineCopiers line_copiers(SimdLevel level);
#endif

}  // namespace dist
