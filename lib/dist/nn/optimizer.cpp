#include "dist/nn/optimizer.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <utility>

#include "dist/core/device/recording.h"
#include "dist/core/shape.h"
#include "dist/nn/checks.h"
#include "dist/nn/runs.h"

namespace dist::nn {

namespace {

constexpr std::string_view master = ".master_param";

bool alike(const Tensor& a, const Tensor& b, DType dtype) {
  return a.is_defined() && a.dtype() == dtype && a.device() == b.device() && a.shape() == b.shape();
}

// The number of the parameter to which a key of the state belongs: 3 for "3.momentum_buffer". Other keys
// ("step") belong to none.
std::optional<std::size_t> owner_of(std::string_view key) {
  std::size_t i = 0;
  if (std::from_chars(key.data(), key.data() + key.size(), i).ec != std::errc()) return {};
  return i;
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

Optimizer::Optimizer(std::string name, std::span<const ParameterGroup> groups, double lr, double weight_decay,
                     bool master_weights)
    : name_(std::move(name)), master_weights_(master_weights) {
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
  first_entries_.resize(parameters_.size());
}

void Optimizer::set_lr(double lr) {
  check_option(lr >= 0, "lr", lr);
  lr_ = lr;
}

void Optimizer::check_option(bool good, std::string_view option, double value) const {
  if (!good) fail(Errc::invalid_argument, "{}: {} = {} is out of range", name_, option, value);
}

std::string Optimizer::called(std::size_t i) const {
  const std::string& known = parameters_[i]->name;
  return known.empty() ? fmt::format("parameter {}", i) : fmt::format("\"{}\"", known);
}

// A tensor of another dtype, shape or device is memory of another size: a step would write beyond it.
void Optimizer::check_parameters() const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!is_trained(i)) continue;
    const Tensor &value = parameters_[i]->value, &grad = parameters_[i]->grad;
    if (!value.is_defined() || !is_trainable(value.dtype()))
      fail(Errc::invalid_argument,
           "{}: {} is {}, bf16, f32 or f64 is needed: train in one of them, and convert the model "
           "afterwards",
           name_, called(i), described_on(value));
    if (!alike(grad, value, value.dtype()))
      fail(Errc::invalid_argument,
           "{}: the gradient of {} is {}, the parameter {}: run forward and backward again after a "
           "change of the model",
           name_, called(i), described_on(grad), described_on(value));
  }
}

void Optimizer::check_state() const {
  for (const auto& [key, tensor] : state_) {
    const auto i = owner_of(key);
    if (!i || *i >= parameters_.size() || !is_trained(*i)) continue;
    const Tensor& value = parameters_[*i]->value;
    if (!alike(tensor, value, wants_master(*i) ? DType::f32 : value.dtype()) ||
        wants_master(*i) != masters_[*i].is_defined())
      fail(Errc::invalid_argument,
           "{}: its \"{}\" is {}, {} is {} by now: make a new optimizer after a change of the model", name_,
           key, described_on(tensor), called(*i), described_on(value));
  }
}

bool Optimizer::wants_master(std::size_t i) const {
  return master_weights_ && parameters_[i]->value.dtype() == DType::bf16;
}

Tensor Optimizer::zeros_for(std::size_t i) const {
  const Tensor& value = parameters_[i]->value;
  return zeros(value.shape(), wants_master(i) ? DType::f32 : value.dtype(), value.device());
}

const Tensor& Optimizer::weight(std::size_t i) const {
  return masters_[i].is_defined() ? masters_[i] : parameters_[i]->value;
}

StateDict Optimizer::first_state(const Having& having) const {
  StateDict state = common_state();
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    for (const std::string& name : having[i] ? state_names() : std::vector<std::string>())
      state.push_back({fmt::format("{}.{}", i, name), zeros_for(i)});
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (having[i] && wants_master(i))
      state.push_back({fmt::format("{}{}", i, master), parameters_[i]->value.to(DType::f32)});
  return state;
}

void Optimizer::use(StateDict state, const Having& having) {
  state_ = std::move(state);
  masters_.assign(parameters_.size(), {});
  for (const auto& [key, tensor] : state_)
    if (key.ends_with(master)) masters_.at(owner_of(key).value()) = tensor;
  std::size_t next = common_state().size();
  const std::size_t each = state_names().size();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    first_entries_[i].reset();
    if (!having[i]) continue;
    first_entries_[i] = next;
    next += each;
  }
}

// Parameters that are trained and have no state get it; the others keep theirs.
void Optimizer::make_state(bool own_steps) {
  for (Parameter* const parameter : parameters_) parameter->notify(Parameter::Event::settle);
  Having having(parameters_.size());
  std::vector<std::size_t> late;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    having[i] = has_state(i) || is_trained(i);
    if (having[i] && !has_state(i)) late.push_back(i);
  }
  if (!late.empty()) {
    StateDict state = first_state(having);
    for (auto& [name, tensor] : state)
      if (const Tensor* const known = find(state_, name)) tensor = *known;
    for (const NamedTensor& entry : state_)
      if (!find(state, entry.name)) state.push_back(entry);
    if (!state_.empty())
      for (const std::size_t i : late) add_own_step(i, true, state);
    use(std::move(state), having);
  }
  for (std::size_t i = 0; own_steps && i < parameters_.size(); ++i)
    if (having[i]) add_own_step(i, false, state_);
}

// In a recording, this runs between graphs, because the host has the learning rate and the number of the
// step.
void Optimizer::step(Caller at) {
  if (Recording::current()) return Recording::between([this, at] { step(at); });
  for (Parameter* const parameter : parameters_) parameter->notify(Parameter::Event::settle);
  check_parameters();
  std::vector<Parameter*> trained;
  for (Parameter* const parameter : parameters_)
    if (parameter->requires_grad()) trained.push_back(parameter);
  if (trained.empty()) return;
  for (Parameter* const parameter : trained) parameter->step_begins(trained, at);
  make_state();
  check_state();
  step_on(state_);
}

void Optimizer::zero_grad() { zero_gradients(parameters_); }

// A parameter that is not trained may have state, of the time when it was.
void Optimizer::load_state_dict(const StateDict& dict) {
  for (Parameter* const parameter : parameters_) parameter->notify(Parameter::Event::settle);
  Having having(parameters_.size());
  for (const auto& [key, tensor] : dict)
    if (const auto i = owner_of(key); i && *i < parameters_.size()) having[*i] = true;
  StateDict loaded;
  if (!dict.empty()) {
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      if (is_trained(i) && !having[i] && (wants_master(i) || !state_names().empty()))
        fail(
            Errc::invalid_argument,
            "{}: {} is trained, and the state to load has nothing for it: call requires_grad(false), as when "
            "the state was saved, load, and then requires_grad(true); does it belong to another model?",
            name_, called(i));
    loaded = first_state(having);
    for (const auto& [key, tensor] : dict)
      if (key.starts_with("step.")) loaded.push_back({key, zeros({}, DType::i64, cpu)});
  }
  copy_state(name_, loaded, dict);
  use(std::move(loaded), having);
}

}  // namespace dist::nn
