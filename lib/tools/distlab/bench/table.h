// The rows for people: at most 100 columns wide.
#pragma once

#include <string>
#include <vector>

#include "distlab/bench/row.h"

namespace distlab::bench {

// Each of these ends with a newline. What is measured, where and how; then the columns' titles.
std::string title(const Run& run);
// The rows of one size and algorithm, one for each form, in the order of forms().
std::string line(const Run& run, const std::vector<Row>& rows);
// What the columns mean, and with a peer the ratios' geometric mean and minimum.
std::string explanation(const Run& run, const std::vector<Row>& rows);

}  // namespace distlab::bench
