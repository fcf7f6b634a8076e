// Grids as the grader and the ranks' processes know them: the right places, slices and lines.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace lab17 {

using Names = std::vector<std::string>;
using Ints = std::vector<int>;
using Numbers = std::vector<double>;

struct Grid {
  Names names;
  Ints sizes, ranks;

  // The numbers of axes; those that are `along`, or those that are not.
  std::vector<std::size_t> axes(const Names& along, bool are_along = true) const {
    std::vector<std::size_t> numbers;
    for (std::size_t axis = 0; axis < names.size(); ++axis)
      if ((std::ranges::find(along, names[axis]) != along.end()) == are_along) numbers.push_back(axis);
    return numbers;
  }
};

// Coordinates count up like an odometer: from 0, 0, 0 on, the last one fastest.
inline Ints place_at(const Ints& sizes, std::size_t position) {
  Ints place(sizes.size(), 0);
  for (; position > 0; --position) {
    std::size_t axis = sizes.size() - 1;
    while (++place[axis] == sizes[axis] && axis > 0) place[axis--] = 0;
  }
  return place;
}

inline Ints right_coordinates(const Grid& grid, int rank) {
  const auto found = std::ranges::find(grid.ranks, rank);
  if (found == grid.ranks.end()) return {};
  return place_at(grid.sizes, static_cast<std::size_t>(found - grid.ranks.begin()));
}

// Those of a place's coordinates that belong to these axes.
inline Ints some_of(const Ints& place, const std::vector<std::size_t>& axes) {
  Ints some;
  for (const std::size_t axis : axes) some.push_back(place[axis]);
  return some;
}

inline Ints right_slice(const Grid& grid, const Names& along, int rank) {
  const auto others = grid.axes(along, false);
  const Ints fixed = some_of(right_coordinates(grid, rank), others);
  Ints ranks;
  for (std::size_t i = 0; i < grid.ranks.size(); ++i)
    if (some_of(place_at(grid.sizes, i), others) == fixed) ranks.push_back(grid.ranks[i]);
  return ranks;
}

// All lines along these axes.
inline std::vector<Ints> right_lines(const Grid& grid, const Names& along) {
  std::vector<Ints> lines;
  for (const int rank : grid.ranks)
    if (Ints line = right_slice(grid, along, rank); std::ranges::find(lines, line) == lines.end())
      lines.push_back(line);
  return lines;
}

}  // namespace lab17
