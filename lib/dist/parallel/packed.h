// Several tensors in one piece of memory, so that one collective serves them all.
#pragma once

#include <span>

#include "dist/core/tensor.h"
#include "dist/nn/parameter.h"

namespace dist {

// Moves the tensors, of one dtype and device, one after the other into new memory: each becomes a view of it
// with the elements that it had. Returns the whole, one-dimensional. Whoever holds a copy of one of the
// tensors still holds the old memory.
Tensor pack(std::span<Tensor* const> tensors);

// The gradient is in its place again, a view that pack() made of it: where somebody has put another tensor
// there since, its elements are copied. Error{invalid_argument} if that one has another shape, dtype or
// device.
void put_back_gradient(const nn::NamedParameter& named, const Tensor& place);

}  // namespace dist
