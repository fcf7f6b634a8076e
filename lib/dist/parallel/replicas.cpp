#include "dist/parallel/replicas.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/ranges.h>

#include "dist/core/fail.h"

namespace dist {
namespace {

// One line per parameter and buffer.
std::string description(nn::Module& model) {
  std::string text;
  const auto add = [&](const char* kind, const std::string& name, const Tensor& t) {
    text += fmt::format("{} \"{}\", {} {}, on {}\n", kind, name, dist::name(t.dtype()),
                        fmt::join(t.shape(), "x"), t.device() == cpu ? "a CPU" : "a GPU");
  };
  for (const auto& [name, parameter] : model.named_parameters()) add("parameter", name, parameter->value);
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
  fail(Errc::mismatch, "rank {}'s model has {} where rank {}'s has {}: every rank must build the same model",
       group.global_rank(static_cast<int>(odd - all.begin())), line_or_end(theirs, differs),
       group.global_rank(0), line_or_end(first, differs));
}

void broadcast_state(nn::Module& model, const ProcessGroup& group, CallSite where) {
  const int root = group.global_rank(0);
  for (const auto& [name, parameter] : model.named_parameters())
    broadcast(parameter->value, root, {.group = group}, where);
  for (const auto& [name, buffer] : model.named_buffers())
    broadcast(buffer->value, root, {.group = group}, where);
}

}  // namespace dist
