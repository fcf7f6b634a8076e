// The report of bench ddp: as text, as JSON, and as a plot.
#pragma once

#include <string>

#include "distlab/bench/ddp/row.h"
#include "distlab/plot.h"

namespace distlab::bench {

inline constexpr double milli = 1e3;  // rows have seconds, reports milliseconds

std::string title(const DdpRun& run);  // with the names of the columns
std::string line(const DdpRun& run, const DdpRow& row);
std::string explanation(const DdpRun& run);

// Returns a list with an object for each row; README.md describes its fields. It does not end with a newline.
std::string as_json(const DdpRun& run);
// Draws images per second over the number of ranks: ours, PyTorch's, and those of the same number of
// independent ranks.
Plot as_plot(const DdpRun& run);

}  // namespace distlab::bench
