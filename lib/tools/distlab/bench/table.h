// The rows as a table, at most 100 columns wide.
#pragma once

#include <string>
#include <vector>

#include "distlab/bench/row.h"

namespace distlab::bench {

// Each function returns text that ends with a newline. This one: what is measured, where and how, and the
// titles of the columns.
std::string title(const Run& run);
// One line: the rows of one size and algorithm, one for each form, in the order of forms().
std::string line(const Run& run, const std::vector<Row>& rows);
// The meaning of the columns and, with a peer, the geometric mean and minimum of the ratios.
std::string explanation(const Run& run, const std::vector<Row>& rows);

}  // namespace distlab::bench
