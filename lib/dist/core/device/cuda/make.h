// The entry point of this folder: other code reaches everything else in it through DeviceApi.
#pragma once

#include <memory>

#include "dist/core/device.h"

namespace dist {

// The GPUs of this machine. When this build (no_cuda.cpp) or this machine has none, throws Error{unsupported}
// with one line that says how to get them.
std::shared_ptr<DeviceApi> make_cuda_device_api();

}  // namespace dist
