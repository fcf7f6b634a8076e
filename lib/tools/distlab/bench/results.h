// The rows for programs, and as a picture.
#pragma once

#include <string>
#include <vector>

#include "distlab/bench/row.h"
#include "distlab/plot.h"

namespace distlab::bench {

// A list with an object for each row; README.md has its fields. No newline at the end.
std::string as_json(const Run& run, const std::vector<Row>& rows);
// The time over the size: a line for each algorithm (one line when the library chose), the peer, the limit.
Plot as_plot(const Run& run, const std::vector<Row>& rows);

}  // namespace distlab::bench
