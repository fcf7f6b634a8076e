// The only way into this folder: the Ops of a GPU.
#pragma once

#include "dist/nn/ops.h"

namespace dist::nn {

// Throws Error{unsupported}, with one line that says how to get them, when this build has none
// (no_cudnn.cpp).
const Ops& cuda_ops();
bool has_cuda_ops();  // for the devices that device_api() has now

}  // namespace dist::nn
