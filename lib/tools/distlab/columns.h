// Columns: how wide a text is on a terminal, and how it is broken to fit.
#pragma once

#include <string>
#include <string_view>

namespace distlab {

// Returns the columns that a text without line ends takes. Escape sequences take none, Chinese characters
// two, and a tab goes to the next multiple of eight.
int columns_of(std::string_view text);

// Returns the beginning of `text` that fits into `columns`.
std::string first_columns(std::string_view text, int columns);

// Breaks the lines of `text` that are wider than `columns`: between words, or between Chinese characters. A
// word that is wider than that stays whole, so that it can be copied. A line's continuation begins below its
// first word, or, when it has two parts with a gap between them ("  --seed UINT   a number"), below the
// second one. `column` is where `text` begins, and where it ends afterwards.
std::string fitted(std::string_view text, int columns, int& column);

}  // namespace distlab
