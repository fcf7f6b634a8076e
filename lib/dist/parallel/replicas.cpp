#include "dist/parallel/replicas.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/ranges.h>

#include "dist/core/fail.h"

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

// One line per parameter and buffer.
std::string description(nn::Module& model) {
  const std::vector<Device> devices = devices_of(model);
  std::string text;
  const auto add = [&](const char* kind, const std::string& name, const Tensor& t) {
    const auto number = std::ranges::find(devices, t.device()) - devices.begin();
    text += fmt::format("{} \"{}\", {} {}, on {}{}\n", kind, name, dist::name(t.dtype()),
                        fmt::join(t.shape(), "x"), t.device() == cpu ? "a CPU" : "a GPU",
                        number == 0 ? "" : fmt::format(" (device {} of the model)", number + 1));
  };
  for (const auto& [name, parameter] : model.named_parameters())
    add(parameter->requires_grad() ? "parameter" : "frozen parameter", name, parameter->value);
  for (const auto& [name, buffer] : model.named_buffers()) add("buffer", name, buffer->value);
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string line_or_end(const std::vector<std::string>& lines, std::size_t i) {
  return i < lines.size() ? lines[i] : "nothing more";
}

}  // namespace

void check_alike(nn::Module& model, const ProcessGroup& group, CallSite where) {
  const auto all = all_gather_object(description(model), {.group = group}, where);
  const auto odd = std::ranges::find_if(all, [&](const std::string& text) { return text != all.front(); });
  if (odd == all.end()) return;
  const auto theirs = lines_of(*odd), first = lines_of(all.front());
  const auto differs = static_cast<std::size_t>(std::ranges::mismatch(theirs, first).in1 - theirs.begin());
  fail(Errc::mismatch,
       "rank {}'s model has {} where rank {}'s has {}: every rank must build the same model, and freeze the "
       "same part of it",
       group.global_rank(static_cast<int>(odd - all.begin())), line_or_end(theirs, differs),
       group.global_rank(0), line_or_end(first, differs));
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
