// Module: forward() and backward() with their hooks; the tree of parameters, buffers and children, visited in
// the order of registration, and what is done to all of it: state, training mode, what forwards keep,
// gradients, moves to a device or a dtype.
#include "dist/nn/module.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <utility>

#include "dist/core/fail.h"
#include "dist/nn/kept.h"
#include "dist/nn/runs.h"

namespace dist::nn {

namespace {

// What an error leaves behind is forgotten while it is on its way: until then, a Work that is dropped is not
// a mistake of the user.
struct AbandonIfFailed {
  Module& module;
  bool failed = true;
  ~AbandonIfFailed() {
    if (failed) module.abandon_step();
  }
};

}  // namespace

Tensor Module::forward(const Tensor& input) { return forward(input, true); }

Tensor Module::forward(const Tensor& input, bool input_needs_grad) {
  input_needs_grad_ = input_needs_grad;
  AbandonIfFailed guard{*this};
  Tensor output = hooked_forward(input);
  if (!needs_backward()) forget_forward();
  guard.failed = false;
  return output;
}

Tensor Module::forward_child(Module& child, const Tensor& input, bool& needs_grad) {
  Tensor output = child.forward(input, needs_grad);
  needs_grad = child.needs_backward();
  return output;
}

Tensor Module::backward(const Tensor& grad_output) {
  if (!needs_backward()) return {};
  AbandonIfFailed guard{*this};
  Tensor grad_input = hooked_backward(grad_output);
  guard.failed = false;
  return wants_input_grad() ? grad_input : Tensor();
}

Tensor Module::hooked_forward(const Tensor& input) {
  if (hooks_.empty()) return run_forward(input);
  Tensor flowing = input;
  for (const auto& hook : hooks_) flowing = hook->before_forward(*this, flowing);
  flowing = run_forward(flowing);
  for (const auto& hook : std::views::reverse(hooks_)) flowing = hook->after_forward(*this, flowing);
  return flowing;
}

Tensor Module::hooked_backward(const Tensor& grad_output) {
  if (hooks_.empty()) return run_backward(grad_output);
  Tensor flowing = grad_output;
  for (const auto& hook : hooks_) flowing = hook->before_backward(*this, flowing);
  flowing = run_backward(flowing);
  for (const auto& hook : std::views::reverse(hooks_)) flowing = hook->after_backward(*this, flowing);
  return flowing;
}

void Module::announce_input_grad(Tensor& grad_input) {
  for (const auto& hook : std::views::reverse(hooks_)) hook->on_input_grad(*this, grad_input);
}

template <class F>
void Module::visit(const std::string& prefix, const F& f) {
  f(prefix, *this);
  for (const Child& child : children_) child.module->visit(prefix + child.name + '.', f);
}

std::vector<NamedParameter> Module::named_parameters() {
  std::vector<NamedParameter> all;
  std::set<const Parameter*> known;  // a module that is registered twice counts once, under its first name
  visit("", [&](const std::string& prefix, const Module& module) {
    for (const auto& [name, parameter] : module.parameters_) {
      if (!known.insert(parameter).second) continue;
      all.push_back({prefix + name, parameter});
      if (all.back().name.size() > parameter->name.size()) parameter->name = all.back().name;
    }
  });
  return all;
}

std::vector<NamedBuffer> Module::named_buffers() {
  std::vector<NamedBuffer> all;
  std::set<const Buffer*> known;
  visit("", [&](const std::string& prefix, const Module& module) {
    for (const auto& [name, buffer] : module.buffers_)
      if (known.insert(buffer).second) all.push_back({prefix + name, buffer});
  });
  return all;
}

std::vector<Parameter*> Module::parameters() {
  std::vector<Parameter*> all;
  for (const auto& named : named_parameters()) all.push_back(named.parameter);
  return all;
}

std::vector<Module*> Module::modules() {
  std::vector<Module*> all;
  for (const NamedModule& named : named_modules()) all.push_back(named.module);
  return all;
}

std::vector<Module::NamedModule> Module::named_modules() {
  std::vector<NamedModule> all;
  std::set<const Module*> known;
  visit("", [&](const std::string& prefix, Module& module) {
    if (known.insert(&module).second)
      all.push_back({prefix.empty() ? prefix : prefix.substr(0, prefix.size() - 1), &module});
  });
  return all;
}

StateDict Module::state_dict() {
  for (Parameter* const parameter : parameters()) parameter->notify(Parameter::Event::settle);
  StateDict dict;
  visit("", [&](const std::string& prefix, const Module& module) {
    for (const auto& [name, parameter] : module.parameters_) {
      dict.push_back({prefix + name, parameter->value});
      if (dict.divided.empty() && parameter->division && !parameter->division->has_all())
        dict.divided = dict.back().name;
    }
    for (const auto& [name, parameter] : module.tied_) dict.push_back({prefix + name, parameter->value});
    for (const auto& [name, buffer] : module.buffers_) dict.push_back({prefix + name, buffer->value});
  });
  return dict;
}

// A tied parameter has several names, of which the state to load may have one only.
void Module::load_state_dict(const StateDict& dict) {
  StateDict own = state_dict();
  std::erase_if(own, [&, all = own](const NamedTensor& entry) {
    return !find(dict, entry.name) && std::ranges::any_of(all, [&](const NamedTensor& other) {
      return other.name != entry.name && other.tensor.raw() == entry.tensor.raw() && find(dict, other.name);
    });
  });
  copy_state(str(), own, dict);
}

void Module::train(bool on) {
  visit("", [on](const std::string&, Module& module) { module.training_ = on; });
}

void Module::set_position(const Position& position) {
  visit("", [&position](const std::string&, Module& module) { module.position_ = position; });
}

void Module::set_forwards_kept(std::size_t depth) {
  if (depth < 1) fail(Errc::invalid_argument, "{}: at least one forward() is kept, not {}", str(), depth);
  visit("", [depth](const std::string&, Module& module) {
    module.forwards_kept_ = depth;
    for (KeptBase* const kept : module.kept_) kept->set_depth(depth);
  });
}

const Module* Module::used_twice() {
  const Module* first = nullptr;
  visit("", [&first](const std::string&, const Module& module) {
    if (!first && std::ranges::any_of(module.kept_, [](const KeptBase* kept) { return kept->size() > 1; }))
      first = &module;
  });
  return first;
}

void Module::forget_forward() {
  visit("", [](const std::string&, Module& module) {
    for (KeptBase* const kept : module.kept_) kept->forget_last();
  });
}

void Module::abandon_step() noexcept {
  for (KeptBase* const kept : kept_) kept->forget_all();
  deferred_.clear();
  for (const auto& hook : hooks_) hook->abandon(*this);
  for (const Child& child : children_) child.module->abandon_step();
}

void Module::defer_parameter_grads(bool on) {
  visit("", [on](const std::string&, Module& module) { module.defers_ = on; });
}

// In reverse order of registration, as backward() would.
void Module::run_parameter_grads() {
  AbandonIfFailed guard{*this};
  for (const auto& hook : hooks_) hook->before_parameter_grads(*this);
  for (const Child& child : std::views::reverse(children_)) child.module->run_parameter_grads();
  if (!deferred_.empty()) {
    const auto work = std::move(deferred_.front());
    deferred_.pop_front();
    work();
  }
  for (const auto& hook : std::views::reverse(hooks_)) hook->after_parameter_grads(*this);
  guard.failed = false;
}

void Module::zero_grad() {
  zero_gradients(parameters());
  visit("", [](const std::string&, Module& module) {
    for (KeptBase* const kept : module.kept_) kept->expect_new_step();
  });
}

void Module::requires_grad(bool on) {
  visit("", [on](const std::string&, const Module& module) {
    for (const auto* const list : {&module.parameters_, &module.tied_})
      for (const NamedParameter& named : *list) named.parameter->requires_grad(on);
  });
}

// Called in every forward(): the first parameter that is trained answers.
bool Module::trains() const {
  const auto is_trained = [](const NamedParameter& named) { return named.parameter->requires_grad(); };
  return std::ranges::any_of(parameters_, is_trained) || std::ranges::any_of(tied_, is_trained) ||
         std::ranges::any_of(children_, [](const Child& child) { return child.module->trains(); });
}

void Module::to(Device device) {
  for (Parameter* const parameter : parameters()) {
    parameter->notify(Parameter::Event::settle);
    parameter->value = parameter->value.to(device);
    if (parameter->grad.is_defined()) parameter->grad = parameter->grad.to(device);
  }
  for (const auto& named : named_buffers()) named.buffer->value = named.buffer->value.to(device);
}

void Module::to(DType dtype) {
  for (Parameter* const parameter : parameters()) {
    parameter->notify(Parameter::Event::settle);
    parameter->value = parameter->value.to(dtype);
    if (parameter->grad.is_defined()) parameter->grad = parameter->grad.to(dtype);
  }
  for (const auto& named : named_buffers()) {
    Tensor& value = named.buffer->value;
    if (is_floating_point(value.dtype())) value = value.to(dtype);
  }
}

void Module::check_name(std::string_view name) const {
  const auto is_name = [name](const auto& entry) { return entry.name == name; };
  if (name.empty() || name.find('.') != name.npos)
    fail(Errc::invalid_argument, "{}: \"{}\" is not a name for a part of a module; use letters, and no dot",
         str(), name);
  if (std::ranges::any_of(parameters_, is_name) || std::ranges::any_of(tied_, is_name) ||
      std::ranges::any_of(buffers_, is_name) || std::ranges::any_of(children_, is_name))
    fail(Errc::invalid_argument, "{} has registered \"{}\" before; names are unique", str(), name);
}

void Module::register_parameter(std::string name, Parameter& parameter) {
  check_name(name);
  parameters_.push_back({std::move(name), &parameter});
}

void Module::register_tied(std::string name, Parameter& parameter) {
  check_name(name);
  tied_.push_back({std::move(name), &parameter});
}

void Module::register_buffer(std::string name, Buffer& buffer) {
  check_name(name);
  buffers_.push_back({std::move(name), &buffer});
}

void Module::register_module(std::string name, Module& child) {
  check_name(name);
  children_.push_back({std::move(name), &child});
}

void Module::unregister_module(Module& child) {
  std::erase_if(children_, [&child](const Child& each) { return each.module == &child; });
}

}  // namespace dist::nn
