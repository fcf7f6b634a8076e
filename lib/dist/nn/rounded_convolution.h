// A convolution of bf16 tensors by means of an f32 one, which all devices have; each result is rounded once.
#pragma once

#include <memory>

#include "dist/nn/ops.h"

namespace dist::nn {

std::unique_ptr<Convolution> make_rounded_convolution(std::unique_ptr<Convolution> in_f32);

}  // namespace dist::nn
