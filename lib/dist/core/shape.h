// Arithmetic on shapes.
#pragma once

#include <cstdint>
#include <string>

#include "dist/core/tensor.h"

namespace dist {

std::string to_string(const Shape& shape);  // "[2, 3]"
std::int64_t product(const Shape& shape);   // 1 for the scalar's shape, []

// Number of elements. Error{invalid_argument} for a negative size, or when the bytes do not fit 63 bits,
// with the line of the call, if there is one.
std::int64_t checked_numel(const Shape& shape, DType dtype, CallSite at = {});

// Replaces the one -1 in `shape` by what makes its product `count`. Error{invalid_argument} when nothing
// does.
void infer_axis(Shape& shape, std::int64_t count, CallSite at);

}  // namespace dist
