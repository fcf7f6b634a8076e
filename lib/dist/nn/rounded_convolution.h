// A convolution of bf16 tensors by one of f32: all devices have that one, and each result is rounded once.
#pragma once

#include <memory>

#include "dist/nn/ops.h"

namespace dist::nn {

std::unique_ptr<Convolution> make_rounded_convolution(std::unique_ptr<Convolution> in_f32);

}  // namespace dist::nn
