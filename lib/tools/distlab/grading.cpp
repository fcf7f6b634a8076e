#include "distlab/grading.h"

#include <fmt/format.h>

#include "dist/core/fail.h"

#include "distlab/json.h"
#include "distlab/process.h"
#include "distlab/temporary_folder.h"

namespace distlab {
namespace {

using dist::Errc, dist::fail;

constexpr int full_score = 100;

}  // namespace

Grade refused_grade(const std::string& why) {
  Grade grade;
  grade.max_score = full_score;
  grade.refused = why;
  return grade;
}

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
    auto grade = read_judge_report(report);
    if (grade.max_score != full_score)
      fail(Errc::internal, "the judge asked for {} points, not {}", grade.max_score, full_score);
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

}  // namespace distlab
