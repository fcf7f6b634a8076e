#include "judge/report.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "judge/numbers.h"
#include "judge/progress.h"
#include "judge/trouble.h"

namespace judge {
namespace {

// The value that the test recorded under this name, or "".
std::string property(const testing::TestResult& result, std::string_view key) {
  for (int i = 0; i < result.test_property_count(); ++i) {
    if (result.GetTestProperty(i).key() == key) return result.GetTestProperty(i).value();
  }
  return "";
}

int number(const testing::TestResult& result, std::string_view key) {
  const auto text = property(result, key);
  return text.empty() ? 0 : std::stoi(text);
}

// An exception that reading an answer has thrown, or OutOfPatience, as GoogleTest quotes it:
//   C++ exception with description "[json.exception.type_error.302] type must be number, but is null" thrown
//   in ...
std::string words_of_exception(std::string_view text) {
  constexpr std::string_view start = "description \"", end = "\" thrown in";
  const auto begin = text.find(start), stop = text.rfind(end);
  if (begin != text.npos && stop != text.npos && begin + start.size() <= stop)
    text = text.substr(begin + start.size(), stop - begin - start.size());
  if (text.starts_with(not_tried)) return std::string(text);
  if (text.starts_with("[json.exception.")) text.remove_prefix(std::min(text.find("] ") + 2, text.size()));
  const bool has_no_number = text.find("but is null") != text.npos;
  return fmt::format("a rank answered what cannot be graded: {}",
                     has_no_number ? "NaN or infinity (or nothing) where a number belongs" : text);
}

// Leaves out what its reader cannot use.
std::string message_of(const testing::TestPartResult& part) {
  constexpr std::size_t enough = 8 << 10;  // bytes; a difference is shown, not a dump
  constexpr std::string_view noise = "Failed\n";
  if (is_exception(part)) return words_of_exception(part.message());
  std::string_view text = part.message();
  if (text.starts_with(noise)) text.remove_prefix(noise.size());
  while (text.ends_with('\n')) text.remove_suffix(1);
  const auto* kind = part.skipped() ? "skipped: " : "";
  if (text.size() <= enough) return with_never_written(fmt::format("{}{}", kind, text));
  return fmt::format("{}{}... ({} bytes)", kind, text.substr(0, enough), text.size());
}

Json messages_of(const testing::TestResult& result) {
  Json messages = Json::array();
  for (int i = 0; i < result.total_part_count(); ++i) {
    const auto& part = result.GetTestPartResult(i);
    if (!part.passed()) messages.push_back(message_of(part));
  }
  return messages;
}

}  // namespace

bool is_exception(const testing::TestPartResult& part) {
  return part.failed() && part.file_name() == nullptr;
}

Report::Report(const std::string& path, std::uint64_t seed, std::string_view isolation)
    : path_(path), file_(path) {
  write({{"seed", std::to_string(seed)}, {"isolation", isolation}});
}

void Report::OnTestProgramStart(const testing::UnitTest& tests) {
  // Otherwise a test has ended its process, or is tried again, and we go on.
  const bool is_first = progress().ended == 0 && !progress().is_second_try;
  if (is_first) write({{"planned", tests.test_to_run_count()}});
}

void Report::OnTestEnd(const testing::TestInfo& test) {
  const auto& result = *test.result();
  if (result.Failed() && is_to_be_repeated()) return;
  const bool is_todo = !property(result, "todo").empty();
  Json line{{"suite", test.test_suite_name()},
            {"name", test.name()},
            {"part", number(result, "part")},
            {"points", number(result, "points")},
            {"result", result.Passed() ? "passed"
                       : is_todo       ? "todo"
                                       : "failed"},
            {"seconds", static_cast<double>(result.elapsed_time()) / 1000},
            {"messages", messages_of(result)}};
  if (!property(result, "picture").empty()) line["picture"] = true;
  const auto misconception = property(result, "hint");
  if (!misconception.empty())
    line["misconception"] = {{"name", misconception}, {"text", property(result, "hint_text")}};
  write(line);
}

void Report::broken(std::string_view suite, std::string_view test, std::string_view how) {
  const auto why = fmt::format(
      "a rank answered what cannot be graded: reading it has ended the grader's process by {}; does the "
      "result have the form that the lab's header asks for?",
      how);
  write({{"suite", suite},
         {"name", test},
         {"part", progress().part},
         {"points", progress().points},
         {"result", "failed"},
         {"seconds", 0},
         {"messages", Json::array({why})}});
}

void Report::end() { write({{"done", true}, {"tests", progress().ended}}); }

void Report::write(const Json& line) {
  file_ << line.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;  // now, not later
  if (!file_) throw std::runtime_error(fmt::format("cannot write {}: {}", path_, std::strerror(errno)));
}

}  // namespace judge
