#include "distlab/results/text.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dist/core/counted.h"

namespace distlab {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

// Returns the number of bytes of the first character, or 0 if the text does not begin with one (Unicode 15,
// table 3-7). XML does not allow U+FFFE and U+FFFF, so they do not count as characters.
std::size_t character_at(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  const auto in = [&](std::size_t i, int low, int high) { return low <= byte(i) && byte(i) <= high; };
  const auto tail = [&](std::size_t i) { return in(i, 0x80, 0xBF); };
  const int first = byte(0);
  if (first < 0x80) return 1;
  if (in(0, 0xC2, 0xDF)) return tail(1) ? 2 : 0;
  if (in(0, 0xE0, 0xEF)) {
    const int low = first == 0xE0 ? 0xA0 : 0x80, high = first == 0xED ? 0x9F : 0xBF;
    const bool is_none = first == 0xEF && byte(1) == 0xBF && byte(2) >= 0xBE;
    return in(1, low, high) && tail(2) && !is_none ? 3 : 0;
  }
  if (in(0, 0xF0, 0xF4)) {
    const int low = first == 0xF0 ? 0x90 : 0x80, high = first == 0xF4 ? 0x8F : 0xBF;
    return in(1, low, high) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

char32_t code_point(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  char32_t code = character.size() == 1 ? first : first & (0x7FU >> character.size());
  for (const char tail : character.substr(1)) code = code << 6U | (static_cast<unsigned char>(tail) & 0x3FU);
  return code;
}

// The first and the last of each range of characters that control the terminal, change the order of the text
// around them, or look like nothing. (Unicode's Cc, Zl, Zp and Default_Ignorable_Code_Point, but without
// newline, tab, and the variation selectors of emoji.)
constexpr std::array<std::pair<char32_t, char32_t>, 20> unseen{{
    {0x00, 0x08},        // C0 controls
    {0x0B, 0x1F},        //
    {0x7F, 0x9F},        // C1 controls: U+009B is the same as ESC [
    {0xAD, 0xAD},        // soft hyphen
    {0x034F, 0x034F},    // combining grapheme joiner
    {0x061C, 0x061C},    // Arabic letter mark
    {0x115F, 0x1160},    // Hangul fillers
    {0x17B4, 0x17B5},    // Khmer vowels that are not written
    {0x180B, 0x180F},    // Mongolian selectors
    {0x200B, 0x200F},    // spaces and joiners without width, direction marks
    {0x2028, 0x202E},    // separators of lines and paragraphs, embedded and overridden directions
    {0x2060, 0x206F},    // operators without width, isolated directions
    {0x3164, 0x3164},    // Hangul filler
    {0xFEFF, 0xFEFF},    // byte order mark
    {0xFFA0, 0xFFA0},    // Hangul filler
    {0xFFF0, 0xFFFB},    // annotations
    {0x13430, 0x1343F},  // joiners of hieroglyphs
    {0x1BCA0, 0x1BCA3},  // of shorthand
    {0x1D173, 0x1D17A},  // of music
    {0xE0000, 0xE0FFF},  // tags
}};

bool is_unseen(char32_t code) {
  return std::ranges::any_of(unseen,
                             [&](const auto& range) { return range.first <= code && code <= range.second; });
}

std::string escaped(char32_t code) {
  const auto number = static_cast<unsigned>(code);
  if (code <= 0xFF) return fmt::format("\\x{:02x}", number);
  return code <= 0xFFFF ? fmt::format("\\u{:04x}", number) : fmt::format("\\U{:08x}", number);
}

}  // namespace

std::string clean(std::string_view bytes) {
  std::string text;
  for (; !bytes.empty();) {
    const auto length = character_at(bytes);
    const auto character = bytes.substr(0, length);
    const bool is_line_end = bytes.starts_with("\r\n");
    if (length == 0) {
      text += replacement;
    } else if (const auto code = code_point(character); !is_unseen(code)) {
      text += character;
    } else if (!is_line_end) {
      text += escaped(code);
    }
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

std::string explanation_of(const GradedTest& test) {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& line) {  // the same message of eight ranks is shown once
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
  };
  for (const auto& message : test.messages) add(message);
  if (!test.explanation.empty()) add("Perhaps: " + test.explanation);
  return clean(fmt::format("{}", fmt::join(lines, "\n")));
}

std::string_view status(const GradeRecord& record) {
  return !record.is_finished ? "unfinished" : record.grade ? "graded" : "ungraded";
}

std::string summary(const GradeRecord& record) {
  if (!record.grade) return record.is_finished ? "ungraded" : "grading has not finished";
  const auto& grade = *record.grade;
  if (!record.is_finished)
    return fmt::format("grading has not finished: {} in {} so far", dist::counted(grade.score, "point"),
                       dist::counted(grade.tests.size(), "test"));
  return fmt::format("{} of {} points", grade.score, grade.max_score);
}

std::string caveat(const GradeRecord& record) {
  if (!record.grade || record.grade->isolation != "limits") return "";
  return "Practice, not a trusted grade: the code ran without a sandbox.";
}

std::string apology(const GradeRecord& record) {
  return clean("ungraded: the grader failed, not you; tell your instructor. What happened: " + record.reason);
}

}  // namespace distlab
