// Screen: a page with a status line below it, on any terminal that knows a few ANSI sequences. Without a
// terminal, it prints the pages one after the other.
#pragma once

#include <string>
#include <vector>

namespace distlab::loop {

// Returns the lines that fit into `rows` rows. If some do not fit, the last row is `rest`.
std::vector<std::string> cropped(const std::vector<std::string>& lines, int columns, int rows,
                                 const std::string& rest);

class Screen {
 public:
  explicit Screen(bool is_terminal) : is_terminal_(is_terminal) {}

  // Replaces the page. If `rest` is given (it says where to see the whole page), crops the page to the
  // screen.
  void show(std::vector<std::string> lines, const std::string& rest = "");
  void append(const std::vector<std::string>& lines);
  void set_status(const std::string& text);
  void redraw();  // call it after the size has changed
  void leave();   // moves the cursor below the page

 private:
  void draw(bool clear);
  void draw_status() const;

  const bool is_terminal_;
  std::vector<std::string> lines_;
  std::string rest_, status_;
};

}  // namespace distlab::loop
