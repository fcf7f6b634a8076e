#include "distlab/loop/screen.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "distlab/columns.h"
#include "distlab/terminal.h"

namespace distlab::loop {
namespace {

constexpr auto erase_line = "\033[K", erase_below = "\033[J", home = "\033[H", clear_all = "\033[2J\033[H";

// Returns the real size of the terminal, however narrow it is.
winsize size_now() {
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0;
  if (!known) size.ws_col = 80, size.ws_row = 24;
  return size;
}

}  // namespace

std::vector<std::string> cropped(const std::vector<std::string>& lines, int columns, int rows,
                                 const std::string& rest) {
  std::vector<int> rows_of;  // a long line takes several rows
  int needed = 0;
  for (const auto& line : lines) {
    rows_of.push_back(std::max(1, (columns_of(line) + columns - 1) / columns));
    needed += rows_of.back();
  }
  if (needed <= rows) return lines;
  std::vector<std::string> fitting;
  int left = rows - 1;
  for (std::size_t i = 0; i < lines.size() && rows_of[i] <= left; ++i) {
    left -= rows_of[i];
    fitting.push_back(lines[i]);
  }
  fitting.push_back(first_columns(rest, columns));
  return fitting;
}

void Screen::show(std::vector<std::string> lines, const std::string& rest) {
  lines_ = std::move(lines);
  const bool clear =
      rest.empty() || rest_.empty();  // a page of the same kind is overwritten without clearing
  rest_ = rest;
  draw(clear);
}

void Screen::append(const std::vector<std::string>& lines) {
  if (is_terminal_) fmt::print("\r{}", erase_line);
  for (const auto& line : lines) fmt::print("{}\n", line);
  lines_.insert(lines_.end(), lines.begin(), lines.end());
  draw_status();
}

void Screen::set_status(const std::string& text) {
  status_ = text;
  draw_status();
}

void Screen::redraw() { draw(true); }

void Screen::leave() {
  if (is_terminal_) fmt::print("\r{}", erase_line);
  std::fflush(stdout);
}

void Screen::draw(bool clear) {
  const auto size = size_now();
  const auto lines =
      is_terminal_ && !rest_.empty() ? cropped(lines_, size.ws_col, size.ws_row - 1, rest_) : lines_;
  if (is_terminal_) fmt::print("{}", clear ? clear_all : home);
  for (const auto& line : lines) fmt::print("{}{}\n", line, is_terminal_ ? erase_line : "");
  if (is_terminal_) fmt::print("{}", erase_below);
  draw_status();
}

void Screen::draw_status() const {
  if (is_terminal_)
    fmt::print("\r{}{}", styled(Style::dim, first_columns(status_, size_now().ws_col - 1)), erase_line);
  std::fflush(stdout);
}

}  // namespace distlab::loop
