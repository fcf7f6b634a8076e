// StateDict: names and tensors, in order; what is saved of a module or an optimizer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dist/core/tensor.h"

namespace dist::nn {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

struct StateDict : std::vector<NamedTensor> {
  using vector::vector;
  // The first name of which this rank has a part only, as ranks have divided the module (fully_shard,
  // parallelize); save_safetensors() refuses it. Empty: all are whole.
  std::string divided = {};
};

// The tensor of that name, or null.
const Tensor* find(const StateDict& dict, std::string_view name);

// All names with `prefix` in front ("model."), so that several states fit into one file; the tensors are
// shared.
StateDict with_prefix(std::string_view prefix, const StateDict& dict);
// The reverse: the entries whose names begin with `prefix`, without it.
StateDict part(const StateDict& dict, std::string_view prefix);

// Copies each tensor of `from` into the one of that name in `to`. Throws Error{invalid_argument}, whose text
// begins with `who`, for a name that one of them lacks and for another shape or dtype; then nothing has been
// copied.
void copy_state(std::string_view who, const StateDict& to, const StateDict& from);

}  // namespace dist::nn
