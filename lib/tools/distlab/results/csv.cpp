#include "distlab/results/csv.h"

#include <algorithm>
#include <array>

#include "distlab/results/results.h"
#include "distlab/results/text.h"

namespace distlab {
namespace {

// Spreadsheets run a cell that begins like a formula, with or without quotes, some of them also one that
// begins with the wide form of such a character. An apostrophe in front makes it text.
std::string csv_cell(const std::string& bytes) {
  constexpr std::array<std::string_view, 10> formula{"=", "+", "-", "@", "\t", "\n", "＝", "＋", "－", "＠"};
  auto text = clean(bytes);
  if (std::ranges::any_of(formula, [&](std::string_view start) { return text.starts_with(start); }))
    text.insert(0, 1, '\'');
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

}  // namespace

std::string csv_row(std::initializer_list<std::string> cells) {
  std::string text;
  for (const auto& each : cells) text += (&each == cells.begin() ? "" : ",") + csv_cell(each);
  return text + "\r\n";
}

std::string csv_header(std::initializer_list<std::string> cells) { return "\xEF\xBB\xBF" + csv_row(cells); }

namespace {

std::string test_row(const GradeRecord& record, const GradedTest& test, std::string_view result,
                     const std::string& message) {
  const Grade nothing;
  const auto& grade = record.grade ? *record.grade : nothing;
  return csv_row({record.lab, record.graded_file, std::string(status(record)), std::to_string(grade.score),
                  std::to_string(grade.max_score), std::to_string(test.part), test.name, std::string(result),
                  std::to_string(test.points), std::to_string(test.max_points), test.misconception, message,
                  grade.seed, grade.isolation});
}

}  // namespace

std::string as_csv(const std::vector<GradeRecord>& records) {
  std::string text =
      csv_header({"lab", "graded_file", "status", "score", "max_score", "part", "test", "result", "points",
                  "max_points", "misconception", "message", "seed", "isolation"});
  for (const auto& record : records) {
    if (!record.grade || record.grade->tests.empty())
      text += test_row(record, {}, "", record.grade ? record.reason : apology(record));
    else
      for (const auto& test : record.grade->tests)
        text += test_row(record, test, name(test.result), explanation_of(test));
  }
  return text;
}

}  // namespace distlab
