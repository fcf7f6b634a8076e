// Rows of CSV (RFC 4180).
#pragma once

#include <initializer_list>
#include <string>

namespace distlab {

// Returns a row with its line end. Cells may be any bytes; a spreadsheet will not read any of them as a
// formula.
std::string csv_row(std::initializer_list<std::string> cells);
// The same as the first row of a file, after a byte-order mark: without it, spreadsheets take the file for
// one in another encoding, and Chinese names for something else.
std::string csv_header(std::initializer_list<std::string> cells);

}  // namespace distlab
