// membarrier(2): one thread executes a fence on behalf of all threads of this process, or of several.
#pragma once

#include <thread>

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dist {

// Whether the kernel executed `command`, one of MEMBARRIER_CMD_...
inline bool membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

// Repeats until it succeeds: it fails when the kernel is out of memory for a moment. The caller has
// registered.
inline void membarrier_surely(int command) noexcept {
  while (!membarrier(command)) std::this_thread::yield();
}

// Whether MEMBARRIER_CMD_PRIVATE_EXPEDITED fences all threads of this process. The first call registers it.
inline bool are_own_threads_fenced() noexcept {
  static const bool registered = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
  return registered;
}

}  // namespace dist
