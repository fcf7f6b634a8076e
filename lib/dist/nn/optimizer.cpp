#include "dist/nn/optimizer.h"

#include <algorithm>
#include <utility>

#include "dist/core/fail.h"

namespace dist::nn {

Optimizer::Optimizer(std::string name, std::vector<Parameter*> parameters, double lr)
    : name_(std::move(name)), parameters_(std::move(parameters)) {
  if (std::ranges::find(parameters_, nullptr) != parameters_.end())
    fail(Errc::invalid_argument, "{}: a parameter is null", name_);
  set_lr(lr);
}

void Optimizer::set_lr(double lr) {
  check_option(lr >= 0, "lr", lr);
  lr_ = lr;
}

void Optimizer::check_option(bool good, std::string_view option, double value) const {
  if (!good) fail(Errc::invalid_argument, "{}: {} = {} is out of range", name_, option, value);
}

void Optimizer::step() {
  if (state_.empty()) state_ = initial_state();
  step_on(state_);
}

void Optimizer::zero_grad() {
  for (Parameter* const parameter : parameters_) parameter->grad.zero_();
}

void Optimizer::load_state_dict(const StateDict& dict) {
  StateDict loaded = dict.empty() ? StateDict() : initial_state();
  copy_state(name_, loaded, dict);
  state_ = std::move(loaded);
}

}  // namespace dist::nn
