#include "dist/nn/sgd.h"

#include <utility>

#include "dist/nn/ops.h"

namespace dist::nn {

SGD::SGD(std::vector<Parameter*> parameters, SGDOptions options)
    : Optimizer("SGD", std::move(parameters), options.lr), options_(options) {
  check_option(options.momentum >= 0, "momentum", options.momentum);
  check_option(options.weight_decay >= 0, "weight_decay", options.weight_decay);
}

StateDict SGD::initial_state() const {
  StateDict state;
  if (options_.momentum == 0) return state;
  for (const Parameter* const parameter : parameters())
    state.push_back({std::to_string(state.size()) + ".momentum_buffer", zeros_like(parameter->value)});
  return state;
}

void SGD::step_on(StateDict& state) {
  const SgdStep step{lr(), options_.momentum, options_.weight_decay};
  for (std::size_t i = 0; i < parameters().size(); ++i) {
    const Parameter& parameter = *parameters()[i];
    ops_for(parameter.value.device())
        .sgd(parameter.value, parameter.grad, state.empty() ? Tensor() : state[i].tensor, step);
  }
}

}  // namespace dist::nn
