#include "dist/backend/algorithm_chooser.h"

#include <optional>

#include "dist/core/fail.h"
#include "dist/core/log.h"

namespace dist {
namespace {

std::string without_underscores(std::string_view text) {
  std::string result(text);
  std::erase(result, '_');
  return result;
}

std::optional<OpKind> collective_named(std::string_view text) {
  for (std::size_t i = 0; i < op_kind_count; ++i) {
    const auto kind = static_cast<OpKind>(i);
    if (is_collective(kind) && without_underscores(name(kind)) == without_underscores(text)) return kind;
  }
  return std::nullopt;
}

}  // namespace

std::size_t deciding_bytes(const Operation& operation) {
  const std::uint64_t elements = operation.elements();  // the number of elements plus one
  return elements == 0 ? 0 : static_cast<std::size_t>(elements - 1) * size_of(operation.dtype());
}

AlgorithmChooser::AlgorithmChooser(const World& at, const CostModel* costs, std::string_view dist_algo)
    : at_(at), costs_(costs) {
  while (!dist_algo.empty()) {
    const auto comma = dist_algo.find(',');
    read(dist_algo.substr(0, comma));
    dist_algo = comma == std::string_view::npos ? std::string_view{} : dist_algo.substr(comma + 1);
  }
}

void AlgorithmChooser::read(std::string_view setting) {
  const auto colon = setting.find(':');
  const auto kind = collective_named(setting.substr(0, colon));
  if (colon == std::string_view::npos || !kind) {
    fail(Errc::invalid_argument,
         "DIST_ALGO has \"{}\", which is not <collective>:<algorithm>, as in "
         "\"all_reduce:ring,broadcast:chain\"",
         setting);
  }
  try {
    from_environment_[static_cast<std::size_t>(*kind)] = &find_algorithm(*kind, setting.substr(colon + 1));
  } catch (const Error& error) {
    fail(error.code(), "DIST_ALGO has \"{}\": {}", setting, error.what());
  }
}

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
  const std::string size = bytes == 0 ? "" : fmt::format(" of {} bytes", bytes);
  log(LogLevel::info, "{}{} on {} ranks runs as {}: {}", name(kind), size, at_.ranks, choice.algorithm,
      choice.reason);
  return find_algorithm(kind, choice.algorithm);
}

}  // namespace dist
