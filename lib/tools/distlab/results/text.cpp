#include "distlab/results/text.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

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

}  // namespace

std::string clean(std::string_view bytes) {
  std::string text;
  for (; !bytes.empty();) {
    const auto length = character_at(bytes);
    const unsigned char first = bytes.front();
    const bool is_control = (first < 0x20 && first != '\n' && first != '\t') || first == 0x7F;
    if (length == 0) {
      text += replacement;
    } else if (first == 0xC2 &&
               static_cast<unsigned char>(bytes[1]) < 0xA0) {  // C1 controls: U+009B is the same as ESC [
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes[1]));
    } else if (is_control && !bytes.starts_with("\r\n")) {
      text += fmt::format("\\x{:02x}", first);
    } else if (!is_control) {
      text += bytes.substr(0, length);
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
    return fmt::format("grading has not finished: {} points in {} tests so far", grade.score,
                       grade.tests.size());
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
