// Finding D12: gradients of parameters that every rank of a line has are compared before an optimizer uses
// them.
#pragma once

#include <vector>

#include "dist/nn/parameter.h"
#include "dist/parallel/tensor/line.h"

namespace dist {

// From now on each step of an optimizer compares the gradients of those of its parameters that are among
// these, all in one comparison.
void compare_before_step(const std::vector<nn::NamedParameter>& parameters, const TensorLine& line);

}  // namespace dist
