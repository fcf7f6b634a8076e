#include "drawing/text_line.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace dist::trace {
namespace {

struct Character {
  std::string_view bytes;
  char32_t code = 0;  // 0: these bytes are not UTF-8
};

// Returns the first character of a text that is not empty.
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(0) < 0x80             ? 1
                             : byte(0) >> 5 == 0b110    ? 2
                             : byte(0) >> 4 == 0b1110   ? 3
                             : byte(0) >> 3 == 0b1'1110 ? 4
                                                        : 0;
  if (length == 0 || length > text.size()) return {text.substr(0, 1), 0};
  char32_t code = length == 1 ? byte(0) : byte(0) & (0x7f >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (byte(i) >> 6 != 0b10) return {text.substr(0, 1), 0};
    code = code << 6 | (byte(i) & 0x3f);
  }
  return {text.substr(0, length), code};
}

bool is_wide(char32_t code) {
  struct Range {
    char32_t first, last;
  };
  constexpr std::array wide{Range{0x1100, 0x115f},   Range{0x2e80, 0xa4cf},  Range{0xac00, 0xd7a3},
                            Range{0xf900, 0xfaff},   Range{0xfe30, 0xfe6f},  Range{0xff00, 0xff60},
                            Range{0x1f300, 0x1faff}, Range{0x20000, 0x3fffd}};
  return std::ranges::any_of(wide, [&](Range range) { return code >= range.first && code <= range.last; });
}

template <class F>
void for_each_character(std::string_view text, F&& f) {
  while (!text.empty()) {
    const Character character = first_character(text);
    f(character);
    text.remove_prefix(character.bytes.size());
  }
}

}  // namespace

std::string displayable(std::string_view text, bool unicode) {
  std::string shown;
  for_each_character(text, [&](const Character& character) {
    const char32_t code = character.code;
    const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    shown += control || (!unicode && code > 0x7f) ? std::string_view("?") : character.bytes;
  });
  return shown;
}

int columns_of(std::string_view text) {
  int columns = 0;
  for_each_character(text, [&](const Character& character) { columns += is_wide(character.code) ? 2 : 1; });
  return columns;
}

std::string shortened(std::string_view text, int columns, std::string_view ellipsis) {
  if (columns_of(text) <= columns) return std::string(text);
  std::string start;
  int left = columns - 1;
  for_each_character(text, [&](const Character& character) {
    left -= is_wide(character.code) ? 2 : 1;
    if (left >= 0) start += character.bytes;
  });
  return columns > 0 ? start.append(ellipsis) : "";
}

void TextLine::put(int column, std::string_view text) {
  auto at = static_cast<std::size_t>(column);
  for_each_character(text, [&](const Character& character) {
    const std::size_t width = is_wide(character.code) ? 2 : 1;
    if (at + width > cells_.size()) return;
    cells_[at] = character.bytes;
    if (width == 2) cells_[at + 1].clear();
    at += width;
  });
}

std::string TextLine::str() const {
  std::string text;
  for (const auto& cell : cells_) text += cell;
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace dist::trace
