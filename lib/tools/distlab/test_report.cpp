#include "distlab/test_report.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace distlab {
namespace {

// Parses a line from its beginning. It does not use std::regex, which recurses once per character, because
// lines may be very long.
class Cursor {
 public:
  explicit Cursor(std::string_view line) : rest_(line) {}

  std::string_view rest() const { return rest_; }
  bool skip(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void skip_all(char c) { rest_.remove_prefix(std::min(rest_.find_first_not_of(c), rest_.size())); }
  bool read(int& number) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (error != std::errc{} || number < 0) return false;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return true;
  }

 private:
  std::string_view rest_;
};

// Splits "12: what test 12 printed" into the number and the text.
std::optional<std::pair<int, std::string_view>> output_line(std::string_view line) {
  Cursor cursor(line);
  int number = 0;
  if (!cursor.read(number) || !cursor.skip(":")) return std::nullopt;
  cursor.skip(" ");
  return std::pair{number, cursor.rest()};
}

// "3/12 Test  #7: a name ......***Failed    0.12 sec", the last line of an entry.
struct StatusLine {
  int finished = 0, total = 0, number = 0;
  std::string_view name, how, seconds;
};

std::string_view without_blanks_at_the_end(std::string_view text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

// Parses "Failed    0.12 sec" from its end.
bool read_outcome(std::string_view text, StatusLine& status) {
  constexpr std::string_view unit = " sec";
  text = without_blanks_at_the_end(text);
  if (!text.ends_with(unit)) return false;
  text.remove_suffix(unit.size());
  const auto last_blank = text.rfind(' ');
  if (last_blank == std::string_view::npos) return false;
  status.seconds = text.substr(last_blank + 1);
  status.how = without_blanks_at_the_end(text.substr(0, last_blank));
  return !status.how.empty() && !status.seconds.empty() &&
         status.seconds.find_first_not_of("0123456789.") == std::string_view::npos;
}

std::optional<StatusLine> status_line(std::string_view line) {
  Cursor cursor(line);
  StatusLine status;
  cursor.skip_all(' ');
  if (!cursor.read(status.finished) || !cursor.skip("/") || !cursor.read(status.total)) return std::nullopt;
  cursor.skip_all(' ');
  if (!cursor.skip("Test ")) return std::nullopt;
  cursor.skip_all(' ');
  if (!cursor.skip("#") || !cursor.read(status.number) || !cursor.skip(": ")) return std::nullopt;
  status.name = cursor.rest().substr(0, cursor.rest().find(" ."));
  cursor.skip(status.name);
  cursor.skip(" ");
  cursor.skip_all('.');
  cursor.skip_all(' ');
  cursor.skip("***");
  if (status.name.empty() || !read_outcome(cursor.rest(), status)) return std::nullopt;
  return status;
}

// Returns the number in "[  PASSED  ] 12 tests.", "[  SKIPPED ] ..." or "[  FAILED  ] 1 test, listed below:".
std::optional<int> case_count(std::string_view line, std::string_view tag) {
  Cursor cursor(line);
  int count = 0;
  if (!cursor.skip(tag)) return std::nullopt;
  cursor.skip_all(' ');
  if (!cursor.read(count) || !cursor.skip(" test")) return std::nullopt;
  cursor.skip("s");
  const bool is_count = cursor.rest() == "." || cursor.rest() == ", listed below:";
  return is_count ? std::optional(count) : std::nullopt;
}

// Returns true for lines in which GoogleTest reports progress or success.
bool is_commentary(std::string_view line) {
  constexpr std::array tags{
      "[==========]",  "[----------]",       "[ RUN      ]",          "[       OK ]",          "[  PASSED  ]",
      "Test command:", "Working Directory:", "Test timeout computed", "Environment variables:"};
  const bool tagged = std::ranges::any_of(tags, [&](std::string_view tag) { return line.starts_with(tag); });
  return tagged || line.empty() || line.starts_with("Note: Google Test filter") ||
         line.starts_with("Running main() from");
}

TestStatus status_of(const std::string& how) {
  if (how == "Passed") return TestStatus::passed;
  return how.starts_with("Skipped") || how.find("Disabled") != std::string::npos ? TestStatus::skipped
                                                                                 : TestStatus::failed;
}

}  // namespace

void TestReport::add_output(TestEntry& entry, std::string_view text) {
  if (auto n = case_count(text, "[  PASSED  ]")) entry.passed = *n;
  if (auto n = case_count(text, "[  FAILED  ]")) entry.failed = *n;
  if (auto n = case_count(text, "[  SKIPPED ]")) entry.skipped = *n;
  // After "file.cpp:12: Skipped", the next line is the reason.
  const bool reason_follows = !entry.output.empty() && entry.output.back().ends_with(": Skipped");
  if (reason_follows && !text.empty()) entry.skip_reasons.emplace_back(text);
  if (!is_commentary(text)) entry.output.emplace_back(text);
}

void TestReport::finish(TestEntry entry) {
  entry.status = status_of(entry.how);
  // A script counts as one case. So does a program that ended before its summary, or whose exit code
  // contradicts its summary.
  if (entry.passed + entry.failed + entry.skipped == 0)
    entry.passed = entry.status == TestStatus::passed ? 1 : 0;
  if (entry.status == TestStatus::failed) entry.failed = std::max(entry.failed, 1);
  if (entry.status == TestStatus::skipped) entry.skipped = std::max(entry.skipped, 1);
  if (entry.skipped > 0 && entry.skip_reasons.empty()) {
    entry.skip_reasons.push_back(entry.output.empty() ? "no reason given" : entry.output.back());
  }
  passed_ += entry.passed;
  failed_ += entry.failed;
  skipped_ += entry.skipped;
  if (entry.status == TestStatus::failed) failures_.push_back(entry.name);
  for (const auto& reason : entry.skip_reasons) ++skip_reasons_[reason];
  last_ = std::move(entry);
}

bool TestReport::add_line(std::string_view line) {
  if (const auto output = output_line(line)) {
    add_output(running_[output->first], output->second);
    return false;
  }
  const auto status = status_line(line);
  if (!status) return false;
  finished_ = status->finished;
  total_ = status->total;
  auto node = running_.extract(status->number);
  TestEntry entry = node ? std::move(node.mapped()) : TestEntry{};
  entry.name = status->name;
  entry.how = status->how;
  entry.seconds = status->seconds;
  finish(std::move(entry));
  return true;
}

std::string TestReport::summary() const {
  std::string text = fmt::format("{} passed, {} failed", passed_, failed_);
  if (skipped_ > 0) text += fmt::format(", {} skipped", skipped_);
  return text;
}

}  // namespace distlab
