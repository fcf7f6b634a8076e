#include "distlab/terminal.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "dist/core/fail.h"

#include "distlab/columns.h"

namespace distlab {
namespace {

std::string_view escape(Style style) {
  switch (style) {
    case Style::plain: return "";
    case Style::bold: return "\033[1m";
    case Style::dim: return "\033[2m";
    case Style::good: return "\033[32m";
    case Style::bad: return "\033[31m";
    case Style::warn: return "\033[33m";
  }
  __builtin_unreachable();
}

constexpr auto columns_variable = "DISTLAB_COLUMNS";

// Returns true if the variable is set to something other than 0.
bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

// Returns true for a terminal that knows no escape sequences.
bool is_dumb() {
  static const bool dumb = [] {
    const char* const term = std::getenv("TERM");
    return term != nullptr && std::string_view(term) == "dumb";
  }();
  return dumb;
}

}  // namespace

bool colours_on() {
  if (is_set("NO_COLOR")) return false;  // https://no-color.org
  return is_set("CLICOLOR_FORCE") || (stdout_is_terminal() && !is_dumb());
}

bool stdout_is_terminal() {
  static const bool terminal = isatty(STDOUT_FILENO) == 1;
  return terminal;
}

bool can_rewrite_lines() {
  const bool dumb = is_dumb();  // asked first, by the thread that may change the environment
  return stdout_is_terminal() && !dumb;
}

void flush_stdout() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  dist::fail_errno(dist::Errc::resource, errno, "standard output cannot be written");
}

bool stdout_has_reader() {
  pollfd asked{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&asked, 1, 0) <= 0 || (asked.revents & POLLERR) == 0;
}

std::string styled(Style style, std::string_view text) {
  static const bool on = colours_on();
  return on && style != Style::plain ? fmt::format("{}{}\033[0m", escape(style), text) : std::string(text);
}

int terminal_columns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  constexpr int widest = 1000;  // no terminal is wider
  const int told = is_set("COLUMNS") ? std::atoi(std::getenv("COLUMNS")) : 0;
  return told > 0 ? std::min(told, widest) : 100;
}

int offered_columns() { return is_set(columns_variable) ? std::atoi(std::getenv(columns_variable)) : 0; }

int columns_to_fit() {
  constexpr int any = 100'000;
  if (stdout_is_terminal()) return terminal_columns();
  return offered_columns() > 0 ? offered_columns() : any;
}

void offer_columns() {
  if (stdout_is_terminal()) ::setenv(columns_variable, std::to_string(terminal_columns()).c_str(), 1);
}

std::string paragraphs(std::string_view text) {
  bool fits = true;
  for (auto left = text; !left.empty(); left.remove_prefix(std::min(left.find('\n') + 1, left.size()))) {
    fits = fits && columns_of(left.substr(0, left.find('\n'))) <= columns_to_fit();
    if (left.find('\n') == left.npos) break;
  }
  std::string joined(text);
  for (std::size_t i = 0; !fits && i + 1 < joined.size(); ++i) {
    const bool is_inside = joined[i] == '\n' && joined[i + 1] != '\n' && i > 0 && joined[i - 1] != '\n';
    if (is_inside) joined[i] = ' ';
  }
  return joined;
}

int terminal_width() { return std::clamp(terminal_columns(), 40, 120); }

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

std::string indented(std::string_view text, Style style, int indent, int width) {
  std::string lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const auto line = text.substr(begin, end - begin);
    const auto own = std::min(line.find_first_not_of(' '), line.size());
    const int left = indent + static_cast<int>(own);
    const auto broken = wrapped(line.substr(own), width - left, 0);
    for (std::size_t at = 0; at <= broken.size();) {
      const auto stop = std::min(broken.find('\n', at), broken.size());
      lines += fmt::format("{:{}}{}\n", "", left, styled(style, broken.substr(at, stop - at)));
      at = stop + 1;
    }
    begin = end + 1;
  }
  return lines;
}

void ProgressLine::show(std::string_view text) {
  if (!can_rewrite_lines()) return;
  fmt::print("\r\033[K{}", first_columns(text, std::min(terminal_columns(), 120) - 1));
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
