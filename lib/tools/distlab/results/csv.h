// Rows of CSV (RFC 4180).
#pragma once

#include <initializer_list>
#include <string>

namespace distlab {

// Returns a row with its line end. Cells may be any bytes; a spreadsheet will not read any of them as a
// formula.
std::string csv_row(std::initializer_list<std::string> cells);

}  // namespace distlab
