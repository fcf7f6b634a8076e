#include "distlab/grading.h"

#include <fstream>

#include <stdlib.h>

#include "dist/core/fail.h"

#include "distlab/process.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::json;
using dist::Errc, dist::fail;

// Removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    auto pattern = (fs::temp_directory_path() / "distlab-grade-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) dist::fail_errno(Errc::resource, errno, "no temporary folder");
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// GoogleTest's "file:line\nFailed\n<text>" without what is of no use to the reader.
std::string message_of(std::string text) {
  text.erase(0, text.find('\n') + 1);
  const std::string_view noise = "Failed\n";
  if (text.starts_with(noise)) text.erase(0, noise.size());
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

GradedTest read_test(const Json& json) {
  GradedTest test;
  test.name = json.at("classname").get<std::string>() + "." + json.at("name").get<std::string>();
  test.step = std::stoi(json.value("step", "0"));
  test.max_points = std::stoi(json.value("points", "0"));
  test.misconception = json.value("hint", "");
  test.explanation = json.value("hint_text", "");
  for (const auto& failure : json.value("failures", Json::array())) {
    test.messages.push_back(message_of(failure.at("failure")));
  }
  const bool passed = test.messages.empty() && json.value("result", "") == "COMPLETED";
  if (passed) test.points = test.max_points;
  test.result = passed                  ? GradedTest::Result::passed
                : json.contains("todo") ? GradedTest::Result::todo
                                        : GradedTest::Result::failed;
  return test;
}

Grade read_report(const Json& report) {
  Grade grade;
  grade.seed = report.value("seed", "");
  for (const auto& suite : report.at("testsuites")) {
    for (const auto& json : suite.at("testsuite")) {
      grade.tests.push_back(read_test(json));
      grade.score += grade.tests.back().points;
      grade.max_score += grade.tests.back().max_points;
    }
  }
  return grade;
}

}  // namespace

Grade run_grading(const GradeRequest& request) {
  constexpr int passed = 0, failed = 1;
  const TemporaryFolder folder;
  const auto report = folder.path() / "report.json";
  std::vector<std::string> argv{request.program, "--runner", request.runner,
                                "--gtest_output=json:" + report.string()};
  if (request.seed) argv.insert(argv.end(), {"--seed", std::to_string(*request.seed)});
  const auto run = run_captured(argv);
  const auto text = fmt::format("the judge {} ended with status {}: {}", request.program.filename().string(),
                                run.exit_code, run.output);
  if (run.exit_code != passed && run.exit_code != failed) fail(Errc::internal, "{}", text);
  try {
    std::ifstream file(report);
    auto grade = read_report(Json::parse(file));
    if (grade.max_score != 100)
      fail(Errc::internal, "the judge asked for {} points, not 100", grade.max_score);
    if (grade.is_full() != (run.exit_code == passed))
      fail(Errc::internal, "score {}, but {}", grade.score, text);
    return grade;
  } catch (const std::exception& error) {
    fail(Errc::internal, "no report ({}): {}", error.what(), text);
  }
}

std::string_view name(GradedTest::Result result) {
  switch (result) {
    case GradedTest::Result::passed: return "passed";
    case GradedTest::Result::failed: return "failed";
    case GradedTest::Result::todo: return "todo";
  }
  __builtin_unreachable();
}

Json to_json(const Grade& grade) {
  Json tests = Json::array();
  for (const auto& test : grade.tests) {
    tests.push_back({{"name", test.name},
                     {"step", test.step},
                     {"points", test.points},
                     {"max_points", test.max_points},
                     {"result", name(test.result)},
                     {"messages", test.messages}});
    if (test.misconception.empty()) continue;
    tests.back()["misconception"] = {{"name", test.misconception}, {"text", test.explanation}};
  }
  return {{"score", grade.score}, {"max_score", grade.max_score}, {"seed", grade.seed}, {"tests", tests}};
}

}  // namespace distlab
