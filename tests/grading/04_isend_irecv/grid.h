// Lab 04: the grid as the grader sees it.
#pragma once

#include <array>
#include <vector>

#include "support.h"

namespace lab04 {

using Row = std::array<double, 2>;  // its first and its last element
using Slice = std::vector<Row>;     // the rows of one rank, ghost rows included
using Slices = std::vector<Slice>;  // [rank]

Slices draw_slices(judge::Random& random, const Grid& grid);
// `task` for each rank, with its slice.
std::vector<Json> grid_tasks(const Json& task, const Slices& slices, const Grid& grid);
// What the fields of the ranks hold by their own report. If a field has lost its shape, the test fails and
// the result is empty.
Slices slices_of(const std::vector<Json>& fields, const Grid& grid);

// The time of an exchange of long rows among three ranks or more, all at once. A network interface sends two
// rows and receives two; their order is not specified, and one may have to wait for another.
inline double exchange_seconds() { return 2 * hold_seconds() + transfer_seconds(); }

}  // namespace lab04
