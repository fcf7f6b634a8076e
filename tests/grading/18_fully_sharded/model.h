// The model that both sides of the grading of lab 18 know: units of a weight [out, in] and a bias [out],
// whose elements, like the inputs of backward, are small whole numbers that a formula gives. So a task need
// not carry them.
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

inline double parameter_element(int seed, std::size_t unit, std::size_t parameter, std::int64_t at) {
  const auto mixed = 7 * at + 3 * static_cast<std::int64_t>(parameter) + 5 * static_cast<std::int64_t>(unit);
  return static_cast<double>((mixed * mixed + mixed / 3 + seed) % 3) - 1;
}

inline double input_element(int seed, int rank, std::size_t unit, std::int64_t at) {
  return static_cast<double>((5 * at + 2 * static_cast<std::int64_t>(unit) + 3 * rank + seed) % 5) - 2;
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
