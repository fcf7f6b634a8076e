// What both sides of the grading of lab 18 know: which rows a rank has, and what its shard is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace lab18 {

using Numbers = std::vector<double>;

// Rows [first, second) of a rank, by torch.chunk's rule.
inline std::pair<std::int64_t, std::int64_t> right_rows(std::int64_t rows, std::int64_t rank,
                                                        std::int64_t n) {
  const std::int64_t most = (rows + n - 1) / n;
  const std::int64_t first = std::min(rank * most, rows);
  return {first, std::min(first + most, rows)};
}

// Element `at` of the whole parameter as rank r's shard has it: its rows of all parameters, each padded to
// ceil(rows / n) rows. `element(parameter, at)` gives the elements; `shapes` are those of the unit.
template <class Element>
Numbers right_shard(const std::vector<std::vector<std::int64_t>>& shapes, std::int64_t rank, std::int64_t n,
                    const Element& element) {
  Numbers shard;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    std::int64_t width = 1;
    for (std::size_t axis = 1; axis < shapes[i].size(); ++axis) width *= shapes[i][axis];
    const auto [first, last] = right_rows(shapes[i][0], rank, n);
    for (std::int64_t at = first * width; at < last * width; ++at) shard.push_back(element(i, at));
    const std::int64_t padded = (shapes[i][0] + n - 1) / n;
    shard.resize(shard.size() + static_cast<std::size_t>((padded - (last - first)) * width), 0);
  }
  return shard;
}

}  // namespace lab18
