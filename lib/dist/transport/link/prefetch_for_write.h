// Prefetching of cache lines that this core writes next and other cores have read: taking them from those
// cores takes as long as a message does, so the transfer is started early, while this core does something
// else. The same holds for lines that this core reads next.
#pragma once

#include <cstddef>
#include <span>

namespace dist::net {

// Both are hints: they change nothing that can be observed, and do not wait.
inline void prefetch_for_write([[maybe_unused]] std::byte* written_next, [[maybe_unused]] std::size_t bytes) {
#ifdef __x86_64__
  constexpr std::size_t line = 64;
  for (std::size_t at = 0; at < bytes; at += line) asm volatile("prefetchw %0" : : "m"(written_next[at]));
#endif
}

template <class T>
void prefetch_for_write(T& written_next) {
  prefetch_for_write(reinterpret_cast<std::byte*>(&written_next), sizeof(T));
}

// For lines that other cores write and this core reads next, while it waits for the line that announces them.
inline void prefetch_for_read(std::span<const std::byte> read_next) {
  constexpr std::size_t line = 64;
  for (std::size_t at = 0; at < read_next.size(); at += line) __builtin_prefetch(read_next.data() + at);
}

}  // namespace dist::net
