#include "dist/nn/state_dict.h"

#include <algorithm>

#include "dist/core/fail.h"
#include "dist/core/shape.h"

namespace dist::nn {

namespace {

std::string shape_and_type(const Tensor& t) {
  return fmt::format("{} {}", to_string(t.shape()), name(t.dtype()));
}

}  // namespace

const Tensor* find(const StateDict& dict, std::string_view name) {
  const auto found = std::ranges::find(dict, name, &NamedTensor::name);
  return found == dict.end() ? nullptr : &found->tensor;
}

StateDict with_prefix(std::string_view prefix, const StateDict& dict) {
  StateDict all;
  all.divided = dict.divided;
  for (const auto& [name, tensor] : dict) all.push_back({std::string(prefix) + name, tensor});
  return all;
}

StateDict part(const StateDict& dict, std::string_view prefix) {
  StateDict found;
  for (const auto& [name, tensor] : dict) {
    if (name.starts_with(prefix)) found.push_back({name.substr(prefix.size()), tensor});
  }
  return found;
}

void copy_state(std::string_view who, const StateDict& to, const StateDict& from) {
  for (const auto& [name, tensor] : from) {
    if (find(to, name)) continue;
    if (const std::string_view bare = name; bare.starts_with("module.") && find(to, bare.substr(7)))
      fail(Errc::invalid_argument,
           "{} has no \"{}\", which the state to load has, but it has \"{}\": the state is that of a "
           "DistributedDataParallel; save the model instead, or load into a DistributedDataParallel",
           who, name, bare.substr(7));
    fail(Errc::invalid_argument,
         "{} has no \"{}\", which the state to load has; does it belong to another model?", who, name);
  }
  for (const auto& [name, tensor] : to) {
    const Tensor* const loaded = find(from, name);
    if (!loaded)
      fail(Errc::invalid_argument,
           "{} has \"{}\", which the state to load lacks; does it belong to another model?", who, name);
    if (loaded->shape() != tensor.shape() || loaded->dtype() != tensor.dtype())
      fail(Errc::invalid_argument,
           "{}: \"{}\" is {}, the state to load has {}; does it belong to another model?", who, name,
           shape_and_type(tensor), shape_and_type(*loaded));
  }
  for (const auto& [name, tensor] : to) Tensor(tensor).copy_(*find(from, name));
}

}  // namespace dist::nn
