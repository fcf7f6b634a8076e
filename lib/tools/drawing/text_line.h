// One line of a picture made of characters: cells that are written at columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dist::trace {

// `text` as a terminal can show it: control characters and what is no UTF-8 as '?', and without `unicode`
// every character beyond ASCII.
std::string displayable(std::string_view text, bool unicode);

// How many columns a terminal gives this UTF-8 text: Chinese, Japanese and Korean characters take two.
int columns_of(std::string_view text);

// The beginning of `text` in at most that many columns, with `ellipsis` (one column) at its end when
// something is missing.
std::string shortened(std::string_view text, int columns, std::string_view ellipsis);

class TextLine {
 public:
  explicit TextLine(int columns) : cells_(static_cast<std::size_t>(columns), " ") {}

  // Over what is there; what does not fit is cut off.
  void put(int column, std::string_view text);
  std::string_view at(int column) const { return cells_[static_cast<std::size_t>(column)]; }
  std::string str() const;  // without blanks at the end

 private:
  std::vector<std::string> cells_;  // one character each; empty: the right half of a wide one
};

}  // namespace dist::trace
