// Lab 04: the grid as the judge sees it.
#pragma once

#include <array>
#include <vector>

#include "support.h"

namespace lab04 {

using Row = std::array<double, 2>;  // its first and its last element
using Slice = std::vector<Row>;     // of one rank, ghost rows included
using Slices = std::vector<Slice>;  // [rank]

Slices draw_slices(judge::Random& random, const Grid& grid);
// `task` for each rank, with its slice.
std::vector<Json> grid_tasks(const Json& task, const Slices& slices, const Grid& grid);
// What the ranks say that their fields hold. Fails the test, and is empty, when a field has lost its shape.
Slices slices_of(const std::vector<Json>& fields, const Grid& grid);

// An exchange of long rows among three ranks or more, all at once. A card sends two rows and receives two; in
// which order they come is nobody's business, and one may have to wait for another.
inline double exchange_seconds() { return 2 * hold_seconds() + transfer_seconds(); }

}  // namespace lab04
