#include "dist/transport/link/asymmetric_fence.h"

#include "dist/core/membarrier.h"

namespace dist::net {

bool is_fenced_by_sleepers() noexcept {
  static const bool registered = membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
  return registered;
}

void fence_everybody() noexcept { membarrier_surely(MEMBARRIER_CMD_GLOBAL_EXPEDITED); }

}  // namespace dist::net
