#include "dist/transport/sleep_fence.h"

#include <thread>

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dist::net {
namespace {

bool membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

bool is_fenced_by_sleepers() noexcept {
  static const bool registered = membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
  return registered;
}

// It fails when the kernel is out of memory for a moment.
void fence_everybody() noexcept {
  while (!membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED)) std::this_thread::yield();
}

}  // namespace dist::net
