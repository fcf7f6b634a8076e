#include "distlab/columns.h"

#include <algorithm>
#include <array>
#include <utility>

#include "drawing/text_line.h"

namespace distlab {
namespace {

bool is_tail(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

// A character, or an escape sequence.
struct Glyph {
  std::string_view bytes;
  int columns = 1;
  bool is_space() const { return bytes == " "; }
  // A line may be broken before and after such a character.
  bool is_wide() const { return columns == 2; }
  // No line begins with these.
  bool closes() const {
    constexpr std::array<std::string_view, 10> closing{"，", "。", "、", "；", "：",
                                                       "？", "！", "）", "”",  "》"};
    return std::ranges::find(closing, bytes) != closing.end();
  }
};

Glyph escape_at(std::string_view text) {
  const auto end = text.size() > 1 && text[1] == '[' ? text.find_first_of("mKJHABCDhl", 2) : 1;
  return {text.substr(0, std::min(end, text.size() - 1) + 1), 0};
}

// Returns the first glyph of a text that is not empty and begins at `column`.
Glyph glyph_at(std::string_view text, int column) {
  constexpr int tab = 8;
  if (text.front() == '\033') return escape_at(text);
  if (text.front() == '\t') return {text.substr(0, 1), tab - column % tab};
  std::size_t size = 1;
  while (size < text.size() && size < 4 && is_tail(text[size])) ++size;
  return {text.substr(0, size), dist::trace::columns_of(text.substr(0, size))};
}

// Returns the column at which a continuation of `line` begins.
int continuation(std::string_view line, int columns) {
  int column = 0, spaces = 0, own = -1, second = -1;
  while (!line.empty() && second < 0) {
    const auto glyph = glyph_at(line, column);
    if (glyph.is_space()) {
      ++spaces;
    } else if (glyph.columns > 0) {
      if (own < 0)
        own = column;
      else if (spaces > 1)
        second = column;
      spaces = 0;
    }
    column += glyph.columns;
    line.remove_prefix(glyph.bytes.size());
  }
  if (second > 0 && second <= columns / 2) return second;
  return own >= 0 && own <= columns / 2 ? own : 0;
}

// The rows of one line, filled glyph by glyph.
class Rows {
 public:
  Rows(int columns, int indent, int& column)
      : columns_(columns), indent_(indent), column_(column), is_row_begun_(column > 0) {}

  void add(const Glyph& glyph) {
    if (glyph.is_space() || ((glyph.is_wide() || before_.is_wide()) && !glyph.closes())) end_word();
    before_ = glyph;
    if (glyph.is_space()) {
      ++gap_;
      return;
    }
    word_ += glyph.bytes;
    word_columns_ += glyph.columns;
  }
  int column() const { return column_ + gap_ + word_columns_; }
  // Drops the spaces at the end of a full row.
  std::string end() {
    end_word();
    if (column_ + gap_ <= columns_) append_gap();
    return std::move(text_);
  }

 private:
  void append_gap() {
    text_.append(static_cast<std::size_t>(gap_), ' ');
    column_ += std::exchange(gap_, 0);
  }
  void end_word() {
    if (word_.empty()) return;
    if (column() > columns_ && is_row_begun_ && word_columns_ > 0) {
      text_ += '\n' + std::string(static_cast<std::size_t>(indent_), ' ');
      column_ = indent_;
      gap_ = 0;
    } else {
      append_gap();
    }
    text_ += std::exchange(word_, {});
    is_row_begun_ = is_row_begun_ || word_columns_ > 0;
    column_ += std::exchange(word_columns_, 0);
  }

  const int columns_, indent_;
  int& column_;  // where the text ends
  bool is_row_begun_;
  std::string text_, word_;  // the word follows the text after a gap
  int gap_ = 0, word_columns_ = 0;
  Glyph before_;
};

std::string fitted_line(std::string_view line, int columns, int& column) {
  Rows rows(columns, column > 0 ? 0 : continuation(line, columns), column);
  for (Glyph glyph; !line.empty(); line.remove_prefix(glyph.bytes.size())) {
    glyph = glyph_at(line, rows.column());
    rows.add(glyph);
  }
  return rows.end();
}

}  // namespace

int columns_of(std::string_view text) {
  int columns = 0;
  for (Glyph glyph; !text.empty(); text.remove_prefix(glyph.bytes.size())) {
    glyph = glyph_at(text, columns);
    columns += glyph.columns;
  }
  return columns;
}

std::string first_columns(std::string_view text, int columns) {
  int column = 0;
  std::string fitting;
  for (Glyph glyph; !text.empty(); text.remove_prefix(glyph.bytes.size())) {
    glyph = glyph_at(text, column);
    column += glyph.columns;
    if (column > columns && glyph.columns > 0) break;
    fitting += glyph.bytes;
  }
  return fitting;
}

std::string fitted(std::string_view text, int columns, int& column) {
  std::string out;
  while (!text.empty()) {
    const auto end = text.find_first_of("\r\n");
    const auto line = text.substr(0, end);
    if (column + columns_of(line) <= columns) {
      out += line;
      column += columns_of(line);
    } else {
      out += fitted_line(line, columns, column);
    }
    if (end == text.npos) break;
    out += text[end];
    column = 0;
    text.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace distlab
