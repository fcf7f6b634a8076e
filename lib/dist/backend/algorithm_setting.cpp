#include "dist/backend/algorithm_setting.h"

#include <algorithm>
#include <optional>

#include "dist/core/fail.h"

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

std::array<const AlgorithmEntry*, op_kind_count> algorithms_named(std::string_view dist_algo) {
  std::array<const AlgorithmEntry*, op_kind_count> named{};
  while (!dist_algo.empty()) {
    const std::string_view setting = dist_algo.substr(0, dist_algo.find(','));
    dist_algo.remove_prefix(std::min(dist_algo.size(), setting.size() + 1));
    const auto colon = setting.find(':');
    const auto kind = collective_named(setting.substr(0, colon));
    if (colon == std::string_view::npos || !kind) {
      fail(Errc::invalid_argument,
           "DIST_ALGO has \"{}\", which is not <collective>:<algorithm>, as in "
           "\"all_reduce:ring,broadcast:chain\"",
           setting);
    }
    try {
      named[static_cast<std::size_t>(*kind)] = &find_algorithm(*kind, setting.substr(colon + 1));
    } catch (const Error& error) {
      fail(error.code(), "DIST_ALGO has \"{}\": {}", setting, error.what());
    }
  }
  return named;
}

}  // namespace dist
