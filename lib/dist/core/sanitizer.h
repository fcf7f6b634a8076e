// What the code must know about the sanitizers that it is built with.
#pragma once

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DIST_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define DIST_TSAN 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define DIST_ASAN 1
#endif
#ifdef __SANITIZE_THREAD__
#define DIST_TSAN 1
#endif

#ifdef DIST_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace dist {

#ifdef DIST_ASAN
inline constexpr bool built_with_asan = true;
#else
inline constexpr bool built_with_asan = false;
#endif
#ifdef DIST_TSAN
inline constexpr bool built_with_tsan = true;
#else
inline constexpr bool built_with_tsan = false;
#endif

// Under AddressSanitizer, touching poisoned memory is reported with both stacks; otherwise these do nothing.
inline void poison([[maybe_unused]] const void* pointer, [[maybe_unused]] std::size_t bytes) {
#ifdef DIST_ASAN
  __asan_poison_memory_region(pointer, bytes);
#endif
}
inline void unpoison([[maybe_unused]] const void* pointer, [[maybe_unused]] std::size_t bytes) {
#ifdef DIST_ASAN
  __asan_unpoison_memory_region(pointer, bytes);
#endif
}

}  // namespace dist
