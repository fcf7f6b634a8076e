#include "dist/nn/sgd.h"

#include <utility>

#include "dist/nn/ops.h"

namespace dist::nn {

SGD::SGD(std::vector<Parameter*> parameters, SGDOptions options)
    : Optimizer("SGD", std::move(parameters), options.lr), options_(options) {
  check_option(options.momentum >= 0, "momentum", options.momentum);
  check_option(options.weight_decay >= 0, "weight_decay", options.weight_decay);
}

void SGD::step() {
  // A velocity of zero is that of the first step: momentum * 0 + g.
  if (options_.momentum != 0 && velocities_.empty())
    for (const Parameter* const parameter : parameters_) velocities_.push_back(zeros_like(parameter->value));
  const SgdStep step{lr(), options_.momentum, options_.weight_decay};
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Parameter& parameter = *parameters_[i];
    ops_for(parameter.value.device())
        .sgd(parameter.value, parameter.grad, velocities_.empty() ? Tensor() : velocities_[i], step);
  }
}

StateDict SGD::state_dict() const {
  StateDict dict;
  for (std::size_t i = 0; i < velocities_.size(); ++i)
    dict.push_back({std::to_string(i) + ".momentum_buffer", velocities_[i]});
  return dict;
}

void SGD::load_state_dict(const StateDict& dict) {
  std::vector<Tensor> loaded;
  if (!dict.empty())
    for (const Parameter* const parameter : parameters_) loaded.push_back(zeros_like(parameter->value));
  SGD as_saved(parameters_, options_);
  as_saved.velocities_ = std::move(loaded);
  copy_state(name_, as_saved.state_dict(), dict);
  velocities_ = std::move(as_saved.velocities_);
}

}  // namespace dist::nn
