#include "dist/backend/algorithm_chooser.h"

#include <fmt/format.h>

#include "dist/backend/algorithm_setting.h"
#include "dist/core/counted.h"
#include "dist/core/log.h"

namespace dist {

std::size_t deciding_bytes(const Operation& operation) {
  const std::uint64_t elements = operation.elements();  // the number of elements plus one
  return elements == 0 ? 0 : static_cast<std::size_t>(elements - 1) * size_of(operation.dtype());
}

AlgorithmChooser::AlgorithmChooser(const World& at, const CostModel* costs, std::string_view dist_algo)
    : at_(at), costs_(costs), from_environment_(algorithms_named(dist_algo)) {}

const AlgorithmEntry* AlgorithmChooser::asked_for(const Operation& operation) const {
  if (!operation.algorithm.empty()) return &find_algorithm(operation.kind, operation.algorithm);
  return from_environment_[static_cast<std::size_t>(operation.kind)];
}

const AlgorithmEntry& AlgorithmChooser::pick(const Operation& operation, bool mapped) const {
  if (const AlgorithmEntry* const asked = asked_for(operation)) return *asked;
  const std::size_t bytes = deciding_bytes(operation);
  auto& slot = remembered_[(bytes / 8 + 5 * static_cast<std::size_t>(operation.kind)) % remembered_.size()];
  if (!slot.entry || slot.kind != operation.kind || slot.bytes != bytes || slot.mapped != mapped) {
    slot = {operation.kind, bytes, mapped, &choose_and_log(operation.kind, bytes, mapped)};
  }
  return *slot.entry;
}

const AlgorithmEntry& AlgorithmChooser::choose_and_log(OpKind kind, std::size_t bytes, bool mapped) const {
  const Choice choice =
      choose(kind, bytes, {.ranks = at_.ranks, .nodes = at_.nodes, .peers_mapped = mapped}, costs());
  const std::string size = bytes == 0 ? "" : fmt::format(" of {}", counted(bytes, "byte"));
  log(LogLevel::info, "{}{} on {} ranks runs as {}: {}", name(kind), size, at_.ranks, choice.algorithm,
      choice.reason);
  return find_algorithm(kind, choice.algorithm);
}

}  // namespace dist
