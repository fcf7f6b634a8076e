// Several tensors in one piece of memory, so that one collective serves all of them.
#pragma once

#include <span>
#include <string_view>

#include "dist/core/tensor.h"
#include "dist/group/process_group.h"
#include "dist/nn/parameter.h"

namespace dist {

// Moves the tensors (of one dtype and device) one after another into new memory: each becomes a view of it
// and keeps its elements. Returns the whole, one-dimensional; on a GPU with zeros between them, so that each
// begins at a multiple of 16 bytes. Other copies of these tensors still refer to the old memory.
Tensor pack(std::span<Tensor* const> tensors);

// Turns the value or the gradient (`what`) of a parameter back into the view that it was: if another tensor
// has replaced it since, copies that one's elements. Throws Error{invalid_argument} if its shape, dtype or
// device differs.
void put_back(Tensor& now, const Tensor& place, std::string_view what, std::string_view parameter);
inline void put_back_gradient(const nn::NamedParameter& named, const Tensor& place) {
  put_back(named.parameter->grad, place, "gradient", named.name);
}

}  // namespace dist
