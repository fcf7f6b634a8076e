// Cache lines that this core writes next and others have read: taking them away from the others takes as long
// as a message does, so it is asked for before they are written, while something else is done. And lines that
// it reads next.
#pragma once

#include <cstddef>
#include <span>

namespace dist::net {

// Hints: they change nothing that can be seen, and do not wait.
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

// Lines that others write and this core reads next: fetched while it waits for the one that says so.
inline void prefetch_for_read(std::span<const std::byte> read_next) {
  constexpr std::size_t line = 64;
  for (std::size_t at = 0; at < read_next.size(); at += line) __builtin_prefetch(read_next.data() + at);
}

}  // namespace dist::net
