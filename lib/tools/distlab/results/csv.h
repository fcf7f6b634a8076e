// Rows of CSV (RFC 4180).
#pragma once

#include <initializer_list>
#include <string>

namespace distlab {

// With its line end. Cells may be any bytes; none is a formula to a spreadsheet.
std::string csv_row(std::initializer_list<std::string> cells);

}  // namespace distlab
