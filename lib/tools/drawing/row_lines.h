// Where the marks of one row stand: each gets the first line in which nothing is in its way.
#pragma once

#include <vector>

#include "drawing/diagram.h"

namespace dist::trace {

// The line, counted from 0, of each of the row's marks. A mark keeps below those before it at its rank; an
// arrow needs the space between its ranks, any other mark that to the right of its rank.
std::vector<int> lines_of(const Row& row, int ranks);

}  // namespace dist::trace
