// What goes to the terminal: colours only when somebody looks (a terminal, NO_COLOR unset).
#pragma once

#include <string>
#include <string_view>

namespace distlab {

enum class Style { plain, bold, dim, good, bad, warn };

bool stdout_is_terminal();
// What was printed has arrived. Error{resource} when it cannot be written: a full disk is no success.
void flush_stdout();
// False when it is a pipe, and whoever read it has gone.
bool stdout_has_reader();
// A terminal that may be coloured, or CLICOLOR_FORCE; NO_COLOR is stronger.
bool colours_on();
// `text` in that style for standard output, or as it is when colours are off.
std::string styled(Style style, std::string_view text);
// Columns to write in, 40 to 120: those of the terminal; without one COLUMNS, else 100.
int terminal_width();
// All columns that the terminal has.
int terminal_columns();
// Breaks at spaces to `width` columns; continuation lines start with `indent` spaces.
std::string wrapped(std::string_view text, int width, int indent);

// Each line of `text` in that style, `indent` spaces further to the right and broken to `width` columns; what
// is broken off stands below its line's own beginning. Ends with a newline.
std::string indented(std::string_view text, Style style, int indent, int width);

// One line that is rewritten in place on a terminal and never appears elsewhere.
class ProgressLine {
 public:
  ~ProgressLine() { clear(); }
  void show(std::string_view text);
  void clear();

 private:
  bool shown_ = false;
};

}  // namespace distlab
