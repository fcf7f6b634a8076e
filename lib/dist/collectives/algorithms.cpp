// The table of all algorithms, made of its parts (all_reduce_rows.cpp, ...).
#include "dist/collectives/algorithms.h"

#include <algorithm>

#include "dist/core/fail.h"

namespace dist {

std::span<const AlgorithmEntry> algorithms() {
  static const auto table = [] {
    std::vector<AlgorithmEntry> rows;
    for (const auto part : {broadcast_and_reduce_rows(), all_reduce_rows(), list_rows()})
      rows.insert(rows.end(), part.begin(), part.end());
    return rows;
  }();
  return table;
}

const AlgorithmEntry& find_algorithm(OpKind collective, std::string_view name) {
  const auto table = algorithms();
  const auto found = std::ranges::find_if(
      table, [&](const AlgorithmEntry& e) { return e.collective == collective && e.name == name; });
  if (found != table.end()) return *found;
  std::string known;
  for (const AlgorithmEntry& e : table)
    if (e.collective == collective) known += fmt::format("{}{}", known.empty() ? "" : ", ", e.name);
  fail(Errc::invalid_argument, "{} has no algorithm \"{}\"; it has: {}", dist::name(collective), name,
       known.empty() ? "none, it is not a collective" : known);
}

}  // namespace dist
