#include "samples.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>
#include <stdlib.h>

#include "distlab/process.h"

namespace results_test {
namespace fs = std::filesystem;
using Result = GradedTest::Result;

const std::vector<std::string>& nasty_texts() {
  using namespace std::string_literals;
  static const std::vector<std::string> texts{
      "",
      "\n",
      "\"quoted\" and 'quoted', with a comma; and a \\ backslash",
      "one\ntwo\r\nthree\rfour\n\n",
      "]]> <![CDATA[ </failure> <a href=\"x\">&amp;&#0; <!-- --",
      "\0 in the middle \0"s,
      "\x01\x02\x08\x0b\x0c\x0e\x1f\x7f and \x1b[31mred\x1b[0m",
      "\xff\xfe, \xc0\xaf, \xe2\x82, \xed\xa0\x80, \xf5\x80\x80\x80, \xef\xbf\xbf, \x80",
      "中文 and \xf0\x9f\x8e\x93, U+FFFD is \xef\xbf\xbd",
      "=1+1",
      "+SUM(A1:A9)",
      "-2",
      "@cmd",
      "\t=1+1",
      "\xef\xbc\x9d"
      "1+1, with the wide form of =",
      "\xe2\x80\xae"
      "3 tog \xe2\x81\xa6\xe2\x80\xad\xe2\x81\xa9, \xef\xbb\xbf\xe2\x80\x8b\xe2\x80\xa8",
      "\xc2\x9b"
      "2J and \xf3\xa0\x81\x81",
      "```\nnot a fence\n````` and `code` | cell | **bold** [link](http://x) <script>",
      std::string(5000, '"'),
  };
  return texts;
}

GradedTest failed_test(const std::string& message) {
  GradedTest test;
  test.name = "Part1Flat.every_root";
  test.part = 1;
  test.max_points = 10;
  test.messages = {message};
  return test;
}

GradeRecord graded(std::vector<GradedTest> tests) {
  Grade grade;
  grade.max_score = 100;
  grade.seed = "17";
  grade.isolation = "bubblewrap";
  for (const auto& test : tests) grade.score += test.points;
  grade.tests = std::move(tests);
  return {.lab = "05_broadcast", .graded_file = "lab", .grade = std::move(grade), .reason = {}};
}

GradeRecord usual() {
  GradedTest passed{.name = "Part1Flat.every_root",
                    .part = 1,
                    .points = 7,
                    .max_points = 7,
                    .result = Result::passed,
                    .seconds = 0.25,
                    .messages = {},
                    .misconception = {},
                    .explanation = {}};
  auto failed = failed_test("rank 2: got 3, expected 4");
  failed.name = "Part1Flat.only_the_root_sends";
  failed.misconception = "sends_to_itself";
  failed.explanation = "the root sends to all, and it is one of all.";
  auto todo = failed_test("lab 05, part 2: not written yet");
  todo.name = "Part2Tree.few_rounds";
  todo.part = 2;
  todo.result = Result::todo;
  return graded({passed, failed, todo});
}

GradeRecord ungraded(const std::string& reason) {
  return {.lab = "05_broadcast", .graded_file = "lab", .grade = {}, .reason = reason};
}

bool is_clean(const std::string& text) {
  for (const unsigned char c : text) {
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F) return false;
  }
  for (const char* unseen :
       {"\xc2\x9b", "\xe2\x80\x8b", "\xe2\x80\x8f", "\xe2\x80\xa8", "\xe2\x80\xaa", "\xe2\x80\xad",
        "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa9", "\xef\xbb\xbf", "\xf3\xa0\x81\x81"}) {
    if (text.find(unseen) != text.npos) return false;
  }
  try {
    nlohmann::json(text).dump();  // throws for what is not UTF-8
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

bool python_is_missing() { return distlab::find_program("python3").empty(); }

std::string python(const std::string& script, const std::string& text) {
  std::string folder = fs::temp_directory_path() / "distlab-results-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return "";
  std::ofstream(folder + "/text", std::ios::binary) << text;
  std::ofstream(folder + "/script.py") << script;
  const auto run =
      distlab::run_captured({"sh", "-c", "python3 '" + folder + "/script.py' < '" + folder + "/text'"});
  fs::remove_all(folder);
  return run.exit_code == 0 ? run.output
                            : "python3 ended with " + std::to_string(run.exit_code) + ": " + run.output;
}

}  // namespace results_test
