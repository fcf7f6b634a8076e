// Arithmetic on shapes.
#pragma once

#include <cstdint>
#include <string>

#include "dist/core/tensor.h"

namespace dist {

// Throws Error{invalid_argument}, with the line of the call, for an undefined tensor.
inline void check_defined(const Tensor& t, Caller at) { static_cast<void>(t.flat(at)); }

std::string to_string(const Shape& shape);  // "[2, 3]"
std::int64_t product(const Shape& shape);   // 1 for the scalar's shape, []

// The number of elements. Throws Error{invalid_argument}, with the line of the call if there is one, for a
// negative size and when the number of bytes does not fit 63 bits.
std::int64_t checked_numel(const Shape& shape, DType dtype, CallSite at = {});

// Replaces the one -1 in `shape` by the size that makes its product `count`. Throws Error{invalid_argument}
// if there is no such size.
void infer_axis(Shape& shape, std::int64_t count, CallSite at);

}  // namespace dist
