// Screen: a page and below it a status line, on any terminal that knows a handful of ANSI sequences. Without
// a terminal pages are printed one after the other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace distlab::loop {

// Columns of a text; its colours take none.
int columns_of(std::string_view text);
// The lines that fit into so many rows; when some do not, the last row says so with `rest`.
std::vector<std::string> cropped(const std::vector<std::string>& lines, int columns, int rows,
                                 const std::string& rest);

class Screen {
 public:
  explicit Screen(bool is_terminal) : is_terminal_(is_terminal) {}

  // Replaces the page. It is cropped to the screen if `rest` says where all of it can be seen.
  void show(std::vector<std::string> lines, const std::string& rest = "");
  void append(const std::vector<std::string>& lines);
  void set_status(const std::string& text);
  void redraw();  // after the size has changed
  void leave();   // the cursor below all of it

 private:
  void draw(bool clear);
  void draw_status() const;

  const bool is_terminal_;
  std::vector<std::string> lines_;
  std::string rest_, status_;
};

}  // namespace distlab::loop
