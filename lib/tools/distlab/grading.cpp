#include "distlab/grading.h"

#include <fmt/format.h>

#include "dist/core/fail.h"

#include "distlab/json.h"
#include "distlab/process.h"
#include "distlab/temporary_folder.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

using dist::Errc, dist::fail;

}  // namespace

Grade run_grading(const GradeRequest& request) {
  constexpr int passed = 0, failed = 1;
  const TemporaryFolder folder;
  const auto report = folder.path() / "report.json";
  std::vector<std::string> argv{request.program, "--runner", request.runner,
                                "--gtest_output=json:" + report.string()};
  if (request.seed) argv.insert(argv.end(), {"--seed", std::to_string(*request.seed)});
  if (!request.filter.empty()) argv.push_back("--gtest_filter=" + request.filter);
  if (!request.traces.empty()) argv.insert(argv.end(), {"--traces", request.traces});
  const auto run = run_captured(argv);
  const auto text = fmt::format("the judge {} ended with status {}: {}", request.program.filename().string(),
                                run.exit_code, run.output);
  if (run.exit_code != passed && run.exit_code != failed) fail(Errc::internal, "{}", text);
  try {
    auto grade = read_judge_report(report);
    if (grade.max_score != 100 && request.filter.empty())
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

}  // namespace distlab
