// What bench ddp says: for people, for programs, and as a picture.
#pragma once

#include <string>

#include "distlab/bench/ddp/row.h"
#include "distlab/plot.h"

namespace distlab::bench {

inline constexpr double milli = 1e3;  // in a unit: rows have seconds, reports milliseconds

std::string title(const DdpRun& run);  // with the names of the columns
std::string line(const DdpRun& run, const DdpRow& row);
std::string explanation(const DdpRun& run);

// A list with an object for each row; README.md has its fields. No newline at the end.
std::string as_json(const DdpRun& run);
// Images a second over the ranks: ours, PyTorch's, and what as many single ranks would do.
Plot as_plot(const DdpRun& run);

}  // namespace distlab::bench
