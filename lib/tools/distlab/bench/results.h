// The rows as JSON and as a plot.
#pragma once

#include <string>
#include <vector>

#include "distlab/bench/row.h"
#include "distlab/plot.h"

namespace distlab::bench {

// Returns a list with an object for each row; README.md describes its fields. It does not end with a newline.
std::string as_json(const Run& run, const std::vector<Row>& rows);
// Draws the time over the size: a line for each algorithm (one line if the library chose), the peer, the
// limit.
Plot as_plot(const Run& run, const std::vector<Row>& rows);

}  // namespace distlab::bench
