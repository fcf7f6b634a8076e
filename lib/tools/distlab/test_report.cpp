#include "distlab/test_report.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <regex>
#include <utility>

#include <fmt/format.h>

namespace distlab {
namespace {

using Match = std::match_results<std::string_view::const_iterator>;

bool matches(std::string_view line, Match& match, const std::regex& pattern) {
  return std::regex_match(line.begin(), line.end(), match, pattern);
}

// "12: what test 12 printed" as its number and its text.
std::optional<std::pair<int, std::string_view>> output_line(std::string_view line) {
  int number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  const auto digits = static_cast<std::size_t>(end - line.data());
  if (error != std::errc{} || digits >= line.size() || line[digits] != ':') return std::nullopt;
  auto text = line.substr(digits + 1);
  if (text.starts_with(' ')) text.remove_prefix(1);
  return std::pair{number, text};
}

// The number in "[  PASSED  ] 12 tests." and its sisters "[  SKIPPED ]", "[  FAILED  ] 1 test, listed
// below:".
std::optional<int> case_count(std::string_view line, std::string_view tag) {
  constexpr std::size_t longest = 60;  // characters
  static const std::regex pattern(R"( *(\d+) tests?(\.|, listed below:))");
  if (!line.starts_with(tag) || line.size() > longest) return std::nullopt;
  Match match;
  const auto rest = line.substr(tag.size());
  if (!matches(rest, match, pattern)) return std::nullopt;
  return std::stoi(match[1].str());
}

// GoogleTest's commentary on what went well.
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
  // "file.cpp:12: Skipped" and then the reason on a line of its own.
  const bool reason_follows = !entry.output.empty() && entry.output.back().ends_with(": Skipped");
  if (reason_follows && !text.empty()) entry.skip_reasons.emplace_back(text);
  if (!is_commentary(text)) entry.output.emplace_back(text);
}

void TestReport::finish(TestEntry entry) {
  entry.status = status_of(entry.how);
  // A script is one case; so is a program that ended before its own summary, and one whose summary is
  // contradicted.
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
  // Output lines may be very long, and std::regex recurses once a character: they are taken apart by hand.
  if (const auto output = output_line(line)) {
    add_output(running_[output->first], output->second);
    return false;
  }
  constexpr std::size_t longest_status = 1000;  // characters
  static const std::regex end(
      R"( *(\d+)/(\d+) +Test +#(\d+): (\S.*?) \.+\s*(?:\*\*\*)?(\S.*?) +([\d.]+) sec *)");
  Match match;
  if (line.size() > longest_status || !matches(line, match, end)) return false;
  finished_ = std::stoi(match[1].str());
  total_ = std::stoi(match[2].str());
  auto node = running_.extract(std::stoi(match[3].str()));
  TestEntry entry = node ? std::move(node.mapped()) : TestEntry{};
  entry.name = match[4].str();
  entry.how = match[5].str();
  entry.seconds = match[6].str();
  finish(std::move(entry));
  return true;
}

std::string TestReport::summary() const {
  std::string text = fmt::format("{} passed, {} failed", passed_, failed_);
  if (skipped_ > 0) text += fmt::format(", {} skipped", skipped_);
  return text;
}

}  // namespace distlab
