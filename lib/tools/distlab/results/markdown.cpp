#include <algorithm>

#include <fmt/format.h>

#include "distlab/results/results.h"
#include "distlab/results/text.h"

namespace distlab {
namespace {

// Returns plain text for one line, with all markup escaped.
std::string without_markup(const std::string& bytes) {
  constexpr std::string_view markup = "\\`*_{}[]<>()#+!|~&$";
  std::string text;
  for (const char c : clean(bytes)) {
    if (markup.find(c) != markup.npos) text += '\\';
    text += c == '\n' || c == '\t' ? ' ' : c;
  }
  return text;
}

// Returns a block that shows `text` unchanged, however many backticks it has.
std::string fenced(const std::string& text) {
  std::size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(std::max<std::size_t>(3, longest + 1), '`');
  return fmt::format("{0}text\n{1}\n{0}\n", fence, text);
}

std::string_view mark(bool is_good) { return is_good ? "✅" : "❌"; }

bool has_all_points(const GradeRecord& record) {
  return record.grade && record.grade->is_full() && record.is_finished;
}

std::string table_of_labs(const std::vector<GradeRecord>& records) {
  std::string table = "| | lab | points |\n|---|---|---|\n";
  for (const auto& record : records) {
    table += fmt::format("| {} | {} | {} |\n", mark(has_all_points(record)), without_markup(record.lab),
                         summary(record));
  }
  return table;
}

std::string table_of_tests(const Grade& grade) {
  std::string table = "| | part | test | points |\n|---|---|---|---|\n";
  for (const auto& test : grade.tests) {
    table += fmt::format("| {} | {} | {} | {} of {} |\n", mark(test.result == GradedTest::Result::passed),
                         test.part, without_markup(test.name), test.points, test.max_points);
  }
  return table;
}

// Returns at most `count` failures.
std::string first_failures(const GradeRecord& record, int count) {
  if (!record.grade)
    return fmt::format("\n{}: ungraded\n\n{}", without_markup(record.lab), fenced(apology(record)));
  if (!record.reason.empty())
    return fmt::format("\n{}\n\n{}", without_markup(record.lab), fenced(clean(record.reason)));
  std::string text;
  for (const auto& test : record.grade->tests) {
    if (test.result == GradedTest::Result::passed || count-- <= 0) continue;
    text += fmt::format("\n{}, part {}: {}\n\n{}", without_markup(record.lab), test.part,
                        without_markup(test.name), fenced(explanation_of(test)));
  }
  return text;
}

}  // namespace

std::string as_markdown(const std::vector<GradeRecord>& records) {
  if (records.empty()) return "## distlab\n\nNo lab was graded.\n";
  const bool is_one = records.size() == 1;
  std::string text = is_one
                         ? fmt::format("## {}: {}\n\n", without_markup(records[0].lab), summary(records[0]))
                         : "## distlab: all labs\n\n";
  if (!is_one) text += table_of_labs(records);
  if (is_one && records[0].grade) text += table_of_tests(*records[0].grade);
  const auto warned = std::ranges::find_if_not(records, &std::string::empty, caveat);
  if (warned != records.end()) text += "\n" + caveat(*warned) + "\n";
  for (const auto& record : records) text += first_failures(record, is_one ? 3 : 1);
  return text;
}

}  // namespace distlab
