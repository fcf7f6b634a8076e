#include "dist/nn/optimizer.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "dist/core/fail.h"
#include "dist/core/shape.h"

namespace dist::nn {

namespace {

bool alike(const Tensor& a, const Tensor& b) {
  return a.is_defined() && a.dtype() == b.dtype() && a.device() == b.device() && a.shape() == b.shape();
}

std::string described_on(const Tensor& t) {
  if (!t.is_defined()) return "undefined";
  return fmt::format("{} {} on {}", to_string(t.shape()), name(t.dtype()), t.device().str());
}

}  // namespace

std::vector<ParameterGroup> decay_groups(const std::vector<Parameter*>& parameters) {
  ParameterGroup decaying, others;
  others.weight_decay = 0;
  for (Parameter* const parameter : parameters)
    (parameter->value.dim() >= 2 ? decaying : others).parameters.push_back(parameter);
  return {std::move(decaying), std::move(others)};
}

Optimizer::Optimizer(std::string name, std::span<const ParameterGroup> groups, double lr, double weight_decay)
    : name_(std::move(name)) {
  for (const ParameterGroup& group : groups) {
    const Rates rates{group.lr_scale, group.weight_decay.value_or(weight_decay)};
    check_option(rates.lr_scale >= 0, "lr_scale", rates.lr_scale);
    check_option(rates.weight_decay >= 0, "weight_decay", rates.weight_decay);
    parameters_.insert(parameters_.end(), group.parameters.begin(), group.parameters.end());
    rates_.resize(parameters_.size(), rates);
  }
  set_lr(lr);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i]) fail(Errc::invalid_argument, "{}: a parameter is null", name_);
    const auto first = std::ranges::find(parameters_, parameters_[i]) - parameters_.begin();
    if (first != static_cast<std::ptrdiff_t>(i))
      fail(Errc::invalid_argument, "{}: parameters {} and {} are the same; each belongs to one group, once",
           name_, first, i);
  }
}

void Optimizer::set_lr(double lr) {
  check_option(lr >= 0, "lr", lr);
  lr_ = lr;
}

void Optimizer::check_option(bool good, std::string_view option, double value) const {
  if (!good) fail(Errc::invalid_argument, "{}: {} = {} is out of range", name_, option, value);
}

// A tensor of another dtype, shape or device is memory of another size: a step would write beyond it.
void Optimizer::check_parameters() const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor &value = parameters_[i]->value, &grad = parameters_[i]->grad;
    if (!value.is_defined() || (value.dtype() != DType::f32 && value.dtype() != DType::f64))
      fail(Errc::invalid_argument,
           "{}: parameter {} is {}, f32 or f64 is needed: train in one of them, and convert the model "
           "afterwards",
           name_, i, described_on(value));
    if (!alike(grad, value))
      fail(Errc::invalid_argument,
           "{}: the gradient of parameter {} is {}, the parameter {}: run forward and backward again after a "
           "change of the model",
           name_, i, described_on(grad), described_on(value));
  }
}

// The key of parameter 3 is "3.momentum_buffer"; other keys ("step") do not belong to a parameter.
void Optimizer::check_state() const {
  for (const auto& [key, tensor] : state_) {
    std::size_t i = 0;
    const char* const end = key.data() + key.size();
    if (std::from_chars(key.data(), end, i).ec != std::errc() || i >= parameters_.size()) continue;
    const Tensor& value = parameters_[i]->value;
    if (!alike(tensor, value))
      fail(
          Errc::invalid_argument,
          "{}: its \"{}\" is {}, parameter {} is {} by now: make a new optimizer after a change of the model",
          name_, key, described_on(tensor), i, described_on(value));
  }
}

void Optimizer::step(Caller at) {
  check_parameters();
  for (Parameter* const parameter : parameters_) parameter->step_begins(parameters_, at);
  if (state_.empty()) state_ = initial_state();
  check_state();
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
