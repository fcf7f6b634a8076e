#include "dist/core/cuda/make.h"
#include "dist/core/fail.h"

namespace dist {

std::shared_ptr<DeviceApi> make_cuda_device_api() {
  fail(
      Errc::unsupported,
      "no cuda devices in this build; configure with -DDIST_CUDA=ON on a machine with the CUDA toolkit and a "
      "GPU, or keep tensors on the cpu");
}

}  // namespace dist
