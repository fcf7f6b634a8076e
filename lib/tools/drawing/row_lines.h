// The lines of the marks in one row: each mark gets the first line in which its space is free.
#pragma once

#include <vector>

#include "drawing/diagram.h"

namespace dist::trace {

// Returns the line of each of the row's marks, counted from 0. A mark stays below the earlier marks of its
// rank. An arrow needs the space between its ranks, any other mark the space to the right of its rank.
std::vector<int> lines_of(const Row& row, int ranks);

}  // namespace dist::trace
