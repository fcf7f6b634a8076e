// Module: the tree of parameters, buffers and children, visited in the order of registration, and what is
// done to all of it: state, training mode, gradients, moves to a device or a dtype.
#include "dist/nn/module.h"

#include <algorithm>
#include <utility>

#include "dist/core/fail.h"

namespace dist::nn {

template <class F>
void Module::visit(const std::string& prefix, const F& f) {
  f(prefix, *this);
  for (const Child& child : children_) child.module->visit(prefix + child.name + '.', f);
}

std::vector<NamedParameter> Module::named_parameters() {
  std::vector<NamedParameter> all;
  visit("", [&](const std::string& prefix, const Module& module) {
    for (const auto& [name, parameter] : module.parameters_) all.push_back({prefix + name, parameter});
  });
  return all;
}

std::vector<NamedBuffer> Module::named_buffers() {
  std::vector<NamedBuffer> all;
  visit("", [&](const std::string& prefix, const Module& module) {
    for (const auto& [name, buffer] : module.buffers_) all.push_back({prefix + name, buffer});
  });
  return all;
}

std::vector<Parameter*> Module::parameters() {
  std::vector<Parameter*> all;
  for (const auto& named : named_parameters()) all.push_back(named.parameter);
  return all;
}

StateDict Module::state_dict() {
  StateDict dict;
  visit("", [&](const std::string& prefix, const Module& module) {
    for (const auto& [name, parameter] : module.parameters_)
      dict.push_back({prefix + name, parameter->value});
    for (const auto& [name, buffer] : module.buffers_) dict.push_back({prefix + name, buffer->value});
  });
  return dict;
}

void Module::load_state_dict(const StateDict& dict) { copy_state(str(), state_dict(), dict); }

void Module::train(bool on) {
  visit("", [on](const std::string&, Module& module) { module.training_ = on; });
}

void Module::zero_grad() {
  for (Parameter* const parameter : parameters()) parameter->grad.zero_();
}

void Module::to(Device device) {
  for (Parameter* const parameter : parameters()) {
    parameter->value = parameter->value.to(device);
    parameter->grad = parameter->grad.to(device);
  }
  for (const auto& named : named_buffers()) named.buffer->value = named.buffer->value.to(device);
}

void Module::to(DType dtype) {
  for (Parameter* const parameter : parameters()) {
    parameter->value = parameter->value.to(dtype);
    parameter->grad = parameter->grad.to(dtype);
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
  if (std::ranges::any_of(parameters_, is_name) || std::ranges::any_of(buffers_, is_name) ||
      std::ranges::any_of(children_, is_name))
    fail(Errc::invalid_argument, "{} has registered \"{}\" before; names are unique", str(), name);
}

void Module::register_parameter(std::string name, Parameter& parameter) {
  check_name(name);
  parameters_.push_back({std::move(name), &parameter});
}

void Module::register_buffer(std::string name, Buffer& buffer) {
  check_name(name);
  buffers_.push_back({std::move(name), &buffer});
}

void Module::register_module(std::string name, Module& child) {
  check_name(name);
  children_.push_back({std::move(name), &child});
}

}  // namespace dist::nn
