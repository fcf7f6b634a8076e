// Digits to look at: in a terminal, and as a sheet of many.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "dist/data/digits.h"

namespace distlab {

// Side by side with two columns between them, 14 columns and 7 lines each: a Braille character shows 2 x 4
// pixels. The labels stand below. At least one; ends with a newline.
std::string in_terminal(std::span<const dist::data::DigitImage> digits);

// A PNG file, so many digits in a row, ink black.
std::string contact_sheet(std::span<const dist::data::DigitImage> digits, std::size_t columns);

}  // namespace distlab
