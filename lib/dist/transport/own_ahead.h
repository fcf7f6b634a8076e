// Cache lines that this core writes next and others have read: taking them away from the others takes as long
// as a message does, so it is asked for before they are written, while something else is done.
#pragma once

#include <cstddef>

namespace dist::net {

// Hints: they change nothing that can be seen, and do not wait.
inline void own_ahead([[maybe_unused]] std::byte* written_next, [[maybe_unused]] std::size_t bytes) {
#ifdef __x86_64__
  constexpr std::size_t line = 64;
  for (std::size_t at = 0; at < bytes; at += line) asm volatile("prefetchw %0" : : "m"(written_next[at]));
#endif
}

template <class T>
void own_ahead(T& written_next) {
  own_ahead(reinterpret_cast<std::byte*>(&written_next), sizeof(T));
}

}  // namespace dist::net
