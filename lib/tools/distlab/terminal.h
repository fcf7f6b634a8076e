// Output to the terminal, with colours only if it is one and NO_COLOR is unset.
#pragma once

#include <string>
#include <string_view>

namespace distlab {

enum class Style { plain, bold, dim, good, bad, warn };

bool stdout_is_terminal();
// Returns true for a terminal that knows escape sequences.
bool can_rewrite_lines();
// Flushes standard output. Throws Error{resource} when it cannot be written, because a full disk is a
// failure.
void flush_stdout();
// Returns false when standard output is a pipe whose reader is gone.
bool stdout_has_reader();
// Returns true for a terminal with colours, or if CLICOLOR_FORCE is set; NO_COLOR wins over both.
bool colours_on();
// Returns `text` in that style for standard output, or unchanged when colours are off.
std::string styled(Style style, std::string_view text);
// Returns how many columns to use, 40 to 120: those of the terminal, or else COLUMNS, or else 100.
int terminal_width();
// Returns all columns of the terminal.
int terminal_columns();
// Returns the columns that tables must fit into: those of the terminal, or those that offer_columns() of our
// caller has found. Elsewhere there are more than any table needs.
int columns_to_fit();
// Returns what the caller's offer_columns() has found, or 0.
int offered_columns();
// If standard output is a terminal, tells the programs that we start how wide it is: what mpirun starts
// writes into a pipe.
void offer_columns();
// Returns `text`, whose lines are broken by hand, as it is if they fit; otherwise each paragraph as one line.
std::string paragraphs(std::string_view text);
// Breaks `text` at spaces to `width` columns; continuation lines start with `indent` spaces.
std::string wrapped(std::string_view text, int width, int indent);

// Returns each line of `text` in that style, `indent` spaces further to the right and broken to `width`
// columns; continuation lines begin below their line's first word. Ends with a newline.
std::string indented(std::string_view text, Style style, int indent, int width);

// A line that is rewritten in place on a terminal. Without a terminal, or on a dumb one, it is not shown.
class ProgressLine {
 public:
  ~ProgressLine() { clear(); }
  void show(std::string_view text);
  void clear();

 private:
  bool shown_ = false;
};

}  // namespace distlab
