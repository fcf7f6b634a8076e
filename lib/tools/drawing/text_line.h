// One line of a picture made of characters, one per column.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dist::trace {

// Returns `text` as a terminal can show it: control characters and bytes that are not UTF-8 become '?', and
// without `unicode` so does every character that is not ASCII.
std::string displayable(std::string_view text, bool unicode);

// Returns how many columns this UTF-8 text takes: Chinese, Japanese and Korean characters take two.
int columns_of(std::string_view text);

// Returns the beginning of `text` in at most `columns` columns; it ends with `ellipsis` (one column) if
// something is missing.
std::string shortened(std::string_view text, int columns, std::string_view ellipsis);

class TextLine {
 public:
  explicit TextLine(int columns) : cells_(static_cast<std::size_t>(columns), " ") {}

  // Overwrites what is there. Characters that do not fit are left out.
  void put(int column, std::string_view text);
  std::string_view at(int column) const { return cells_[static_cast<std::size_t>(column)]; }
  std::string str() const;  // without blanks at the end

 private:
  std::vector<std::string> cells_;  // one character each; empty: the right half of a wide one
};

}  // namespace dist::trace
