// Pictures of digits: in a terminal, and as a sheet of many.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "dist/data/digits.h"

namespace distlab {

// Returns the digits side by side with two columns between them. Each takes 14 columns and 7 lines, because a
// Braille character shows 2 x 4 pixels, and has its label below. Needs at least one digit; ends with a
// newline.
std::string in_terminal(std::span<const dist::data::DigitImage> digits);

// Returns a PNG file with `columns` digits per row, in black ink.
std::string contact_sheet(std::span<const dist::data::DigitImage> digits, std::size_t columns);

}  // namespace distlab
