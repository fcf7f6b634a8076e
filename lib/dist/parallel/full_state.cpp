#include "dist/parallel/full_state.h"

#include <algorithm>

#include "dist/mesh/placed.h"

namespace dist {

namespace {

Tensor whole_of(const nn::Parameter& parameter, const Tensor& part, CallSite at) {
  const Placed* const placed = placed_of(parameter);
  return placed ? placed->full_tensor(part, Caller(at)) : part;
}

}  // namespace

// A parameter under several names is gathered once.
nn::StateDict full_state_dict(nn::Module& module, Caller at) {
  nn::StateDict state = module.state_dict();
  const auto parameters = module.named_parameters();
  std::vector<Tensor> gathered(parameters.size());
  for (auto& [name, tensor] : state) {
    auto same = std::ranges::find(parameters, name, &nn::NamedParameter::name);
    if (same == parameters.end())  // another name, or a buffer
      same = std::ranges::find_if(parameters, [&tensor = tensor](const nn::NamedParameter& other) {
        return other.parameter->value.raw() == tensor.raw() &&
               other.parameter->value.shape() == tensor.shape();
      });
    if (same == parameters.end() || !placed_of(*same->parameter)) continue;
    Tensor& known = gathered[static_cast<std::size_t>(same - parameters.begin())];
    if (!known.is_defined()) known = whole_of(*same->parameter, tensor, at);
    tensor = known;
  }
  state.divided.clear();
  return state;
}

nn::StateDict full_gradients(nn::Module& module, Caller at) {
  nn::StateDict whole;
  for (const auto& [name, parameter] : module.named_parameters())
    if (parameter->grad.is_defined()) whole.push_back({name, whole_of(*parameter, parameter->grad, at)});
  return whole;
}

}  // namespace dist
