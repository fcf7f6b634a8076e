#include "dist/parallel/replicas.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "dist/group/call.h"
#include "dist/group/check_same.h"
#include "dist/group/diagnosis/compare_copies.h"
#include "dist/group/given_up.h"
#include "dist/mesh/placed.h"

namespace dist {
namespace {

// In the order in which parameters and buffers come.
std::vector<Device> devices_of(nn::Module& model) {
  std::vector<Device> devices;
  const auto add = [&](const Tensor& t) {
    if (std::ranges::find(devices, t.device()) == devices.end()) devices.push_back(t.device());
  };
  for (const auto& [name, parameter] : model.named_parameters()) add(parameter->value);
  for (const auto& [name, buffer] : model.named_buffers()) add(buffer->value);
  return devices;
}

std::string line_of(std::string_view kind, const std::string& name, DType dtype, const Shape& shape) {
  return fmt::format("{} \"{}\", {} {}", kind, name, dist::name(dtype), fmt::join(shape, "x"));
}
std::string line_of(std::string_view kind, const std::string& name, const Tensor& t) {
  return line_of(kind, name, t.dtype(), t.shape());
}

Shape whole_shape(const nn::Parameter& parameter) {
  const Placed* const placed = placed_of(parameter);
  return placed ? placed->whole : parameter.value.shape();
}

bool is_divided_among(const nn::Parameter& parameter, const ProcessGroup& group) {
  const Placed* const placed = placed_of(parameter);
  return placed && std::ranges::any_of(placed->axes, [&](const PlacedAxis& axis) {
           return axis.group.state() == group.state() && axis.placement != Placement(Replicate());
         });
}

}  // namespace

std::string description(std::span<const nn::NamedParameter> parameters) {
  std::string text;
  for (const auto& [name, parameter] : parameters)
    text += line_of("parameter", name, parameter->value.dtype(), whole_shape(*parameter)) +
            (parameter->requires_grad() ? "\n" : ", frozen\n");
  return text;
}

void check_start(std::string_view call, std::span<const nn::NamedParameter> parameters,
                 const std::string& options, const ProcessGroup& group, CallSite where) {
  check_same(call, description(parameters) + options, group, where);
  compare_start(parameters, group, where);
}

void check_start(std::string_view call, std::span<const nn::NamedParameter> parameters,
                 const std::string& options, const DeviceMesh& mesh, CallSite where) {
  if (!mesh) return check_start(call, parameters, options, ProcessGroup(), where);
  check_same(call, description(parameters) + options, mesh.get_all_groups(where), where);
  const auto names = mesh.names();
  for (std::size_t i = 0; const ProcessGroup& line : mesh.get_all_groups(where))
    compare_start(parameters, line, where, names[i++]);
}

void compare_start(std::span<const nn::NamedParameter> parameters, const ProcessGroup& group, CallSite where,
                   std::string_view axis) {
  if (!compares_copies(group)) return;
  std::vector<NamedTensor> values;
  for (const auto& [name, parameter] : parameters)
    if (!is_divided_among(*parameter, group))
      values.push_back({"the initial value of " + name, parameter->value});
  compare_replicas(group, values, where, axis);
}

std::string description(nn::Module& model) {
  const std::vector<Device> devices = devices_of(model);
  const auto on = [&](const Tensor& t) {
    const auto number = std::ranges::find(devices, t.device()) - devices.begin();
    return fmt::format(", on {}{}\n", t.device() == cpu ? "a CPU" : "a GPU",
                       number == 0 ? "" : fmt::format(" (device {} of the model)", number + 1));
  };
  std::string text;
  for (const auto& [name, parameter] : model.named_parameters())
    text += line_of("parameter", name, parameter->value) + (parameter->requires_grad() ? "" : ", frozen") +
            on(parameter->value);
  for (const auto& [name, buffer] : model.named_buffers())
    text += line_of("buffer", name, buffer->value) + on(buffer->value);
  return text;
}

void agree_on_change(std::string_view call, const std::string& description, const ProcessGroup& group,
                     CallSite where) {
  {
    const ApartFromOthers until_compared(group);  // whoever has not changed does not match
    Tensor nothing = zeros({1}, DType::f32, cpu);
    all_reduce(nothing, ReduceOp::max, {.group = group}, where);
  }
  check_same(call, description, group, where);
}

std::uint64_t number_along(const ProcessGroup& of, CallSite where) {
  const GroupInUse group(of, "the number of a model", where);
  return group->models++;
}

CallSite line_of_model(const ProcessGroup& group, CallSite where) {
  where = users_line(where);
  const std::uint64_t number = number_along(group, where);
  return number == 0 ? where : where.in(fmt::format("model {}", number + 1));
}

std::vector<nn::NamedParameter> trained_of(std::span<const nn::NamedParameter> all) {
  std::vector<nn::NamedParameter> trained;
  for (const nn::NamedParameter& named : all)
    if (named.parameter->requires_grad()) trained.push_back(named);
  return trained;
}

bool are_trained(std::span<const nn::NamedParameter> known, std::span<const nn::NamedParameter> all) {
  auto next = known.begin();
  for (const nn::NamedParameter& named : all)
    if (named.parameter->requires_grad() && (next == known.end() || (next++)->parameter != named.parameter))
      return false;
  return next == known.end();
}

DeviceGroups::DeviceGroups(nn::Module& model, const ProcessGroup& group, CallSite where)
    : devices_(devices_of(model)), groups_{group} {
  while (groups_.size() < devices_.size())
    groups_.push_back(split_group(0, group.rank(), {.parent = group}, where));
}

const ProcessGroup& DeviceGroups::of(Device device) const {
  const auto at = std::ranges::find(devices_, device);
  return at == devices_.end() ? groups_.front() : groups_[static_cast<std::size_t>(at - devices_.begin())];
}

void broadcast_state(nn::Module& model, const DeviceGroups& groups, CallSite where) {
  const auto send = [&](Tensor& t) {
    const ProcessGroup& group = groups.of(t.device());
    broadcast(t, group.global_rank(0), {.group = group}, where);
  };
  for (const auto& [name, parameter] : model.named_parameters()) send(parameter->value);
  for (const auto& [name, buffer] : model.named_buffers()) send(buffer->value);
}

void broadcast_state(nn::Module& model, const ProcessGroup& group, CallSite where) {
  broadcast_state(model, DeviceGroups(model, group, where), where);
}

}  // namespace dist
