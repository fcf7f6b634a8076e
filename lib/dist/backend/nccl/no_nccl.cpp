#include "dist/backend/nccl/library.h"
#include "dist/core/fail.h"

namespace dist::nccl {

// DIST_NCCL_WHY: what CMake found out (lib/cmake/DistCuda.cmake).
std::shared_ptr<Library> open_library() {
  fail(Errc::unsupported, "this build has no NCCL: {}", DIST_NCCL_WHY);
}

}  // namespace dist::nccl
