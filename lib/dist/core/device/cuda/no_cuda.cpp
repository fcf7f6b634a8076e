#include "dist/core/device/cuda/make.h"
#include "dist/core/fail.h"

namespace dist {

// DIST_CUDA_WHY: what CMake found out (lib/cmake/DistCuda.cmake).
std::shared_ptr<DeviceApi> make_cuda_device_api() {
  fail(Errc::unsupported, "this build has no cuda devices: " DIST_CUDA_WHY "; or keep tensors on the cpu");
}

}  // namespace dist
