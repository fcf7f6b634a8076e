// A mutant is the solution with one function replaced. `#define slice right_slice` around the solution keeps
// the right function under another name. The headers come first, so that the macro renames nothing else.
//
// Each mutant's file names its misconception, the test that must kill it and the diagnosis it must get.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "device_mesh.h"

#define DIST_SOLUTION "solutions/17_device_mesh/device_mesh.cpp"

namespace lab {

// The solution calls these before it defines them.
std::vector<int> right_coordinates(const Grid& grid, int rank);
Grid right_slice(const Grid& grid, const Names& axes, int rank);

inline std::size_t number_of(const Grid& grid, const std::string& axis) {
  return static_cast<std::size_t>(std::ranges::find(grid.names, axis) - grid.names.begin());
}

// The sum of each number over the ranks of a group.
inline std::vector<double> summed(const std::vector<double>& numbers, const dist::ProcessGroup& group) {
  dist::Tensor t = dist::tensor<double>(numbers);
  dist::all_reduce(t, dist::ReduceOp::sum, {.group = group});
  return t.to_vector<double>();
}

inline double root_of_the_sum(const std::vector<double>& sums) {
  return std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0));
}

}  // namespace lab
