#include "distlab/terminal.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace distlab {
namespace {

std::string_view escape(Style style) {
  switch (style) {
    case Style::bold: return "\033[1m";
    case Style::dim: return "\033[2m";
    case Style::good: return "\033[32m";
    case Style::bad: return "\033[31m";
    case Style::warn: return "\033[33m";
  }
  __builtin_unreachable();
}

bool colours_on() {
  const char* no_color = std::getenv("NO_COLOR");  // https://no-color.org: set and not empty
  const char* term = std::getenv("TERM");
  return stdout_is_terminal() && !(no_color && *no_color) && !(term && std::string_view(term) == "dumb");
}

}  // namespace

bool stdout_is_terminal() {
  static const bool terminal = isatty(STDOUT_FILENO) == 1;
  return terminal;
}

std::string styled(Style style, std::string_view text) {
  static const bool on = colours_on();
  return on ? fmt::format("{}{}\033[0m", escape(style), text) : std::string(text);
}

int terminal_width() {
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? std::clamp<int>(size.ws_col, 40, 120) : 100;
}

std::string wrapped(std::string_view text, int width, int indent) {
  std::string out;
  int column = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (column > indent && column + static_cast<int>(word.size()) >= width) {
      out += "\n" + std::string(static_cast<std::size_t>(indent), ' ');
      column = indent;
    } else if (!out.empty()) {
      out += ' ';
      ++column;
    }
    out += word;
    column += static_cast<int>(word.size());
  }
  return out;
}

void ProgressLine::show(std::string_view text) {
  if (!stdout_is_terminal()) return;
  fmt::print("\r\033[K{}", text.substr(0, static_cast<std::size_t>(terminal_width() - 1)));
  std::fflush(stdout);
  shown_ = true;
}

void ProgressLine::clear() {
  if (!shown_) return;
  fmt::print("\r\033[K");
  std::fflush(stdout);
  shown_ = false;
}

}  // namespace distlab
