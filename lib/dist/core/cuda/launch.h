// What the files of kernels need from the others. Defined in check.cpp, as nvcc does not take fmt's format
// strings.
#pragma once

#include "dist/core/view.h"

namespace dist::cuda_kernels {

// After a launch: what it could do wrong itself, too large an argument or no code for this GPU.
void check_launch(const char* kernel, const TensorView& view);
[[noreturn]] void no_such_kernel(const char* kernel, DType dtype);

}  // namespace dist::cuda_kernels
