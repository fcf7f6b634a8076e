#include "distlab/grading.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/core/json_error.h"

#include "distlab/judge_report.h"
#include "distlab/process.h"
#include "distlab/stray_processes.h"
#include "distlab/temporary_folder.h"

namespace distlab {
namespace {

using dist::Errc, dist::fail;

// Removes DIST_ variables while a grader is started. The grader measures the library as well as the
// submission, and variables that the caller has set for other programs (DIST_TIMEOUT, DIST_ALGO) must change
// neither. Its temporary files are in a folder of ours, which is removed even where the grader is ended.
class WithoutSettings {
 public:
  explicit WithoutSettings(const std::filesystem::path& temporary_files) {
    const char* const before = std::getenv("TMPDIR");
    if (before != nullptr) temporary_before_ = before;
    ::setenv("TMPDIR", temporary_files.c_str(), 1);
    for (char** entry = environ; *entry; ++entry) {
      const std::string_view text(*entry);
      if (const auto end = text.find('='); text.starts_with("DIST_") && end != text.npos)
        removed_.emplace_back(text.substr(0, end), text.substr(end + 1));
    }
    for (const auto& [name, value] : removed_) ::unsetenv(name.c_str());
  }
  ~WithoutSettings() {
    temporary_before_ ? ::setenv("TMPDIR", temporary_before_->c_str(), 1) : ::unsetenv("TMPDIR");
    for (const auto& [name, value] : removed_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  WithoutSettings(const WithoutSettings&) = delete;
  WithoutSettings& operator=(const WithoutSettings&) = delete;

 private:
  std::vector<std::pair<std::string, std::string>> removed_;
  std::optional<std::string> temporary_before_;
};

// Returns the grader's exit code. If the grader is interrupted, the sandboxes that it has started end with
// it.
int run_judge(const std::vector<std::string>& argv, const std::filesystem::path& temporary_files,
              const LineSink& sink) {
  const WithoutSettings bare(temporary_files);
  adopt_stray_processes();
  try {
    return run_streamed(argv, sink).exit_code;
  } catch (const Interrupted&) {
    end_stray_processes();
    throw;
  }
}

[[noreturn]] void rethrow_with(const std::exception_ptr& trouble, const std::string& said) {
  try {
    std::rethrow_exception(trouble);
  } catch (const std::exception& error) {
    fail(Errc::internal, "the grader's report cannot be read ({}): {}", dist::json_error(error.what()), said);
  }
}

}  // namespace

Grade run_grading(const GradeRequest& request) {
  constexpr int passed = 0, failed = 1;
  const TemporaryFolder folder("grade"), files("grader");
  // Another user may have to start programs in it.
  std::filesystem::permissions(files.path(),
                               std::filesystem::perms::group_exec | std::filesystem::perms::others_exec,
                               std::filesystem::perm_options::add);
  const auto file = folder.path() / "report";
  std::vector<std::string> argv{request.program, "--runner", request.runner, "--report", file};
  if (request.seed) argv.insert(argv.end(), {"--seed", std::to_string(*request.seed)});
  if (!request.filter.empty()) argv.push_back("--gtest_filter=" + request.filter);
  if (request.build_work_ms > 0)
    argv.insert(argv.end(), {"--build-work-ms", std::to_string(request.build_work_ms)});
  if (!request.traces.empty()) argv.insert(argv.end(), {"--traces", request.traces});

  JudgeReport report(file);
  std::string output;
  std::exception_ptr trouble;  // an error in the report; we still wait for the grader
  const auto read_more = [&] {
    try {
      if (!trouble) report.read_more(request.on_test);
    } catch (...) {
      trouble = std::current_exception();
    }
  };
  // GoogleTest prints a line before and after each test; at that time the report has the test's line already.
  const int exit_code = run_judge(argv, files.path(), [&](std::string_view line) {
    output.append(line) += '\n';
    read_more();
  });
  read_more();

  const auto said = fmt::format("the grader {} ended with status {}: {}", request.program.filename().string(),
                                exit_code, output);
  if (exit_code != passed && exit_code != failed) fail(Errc::internal, "{}", said);
  if (trouble) rethrow_with(trouble, said);
  if (!report.is_complete()) fail(Errc::internal, "the grader's report has no end: {}", said);
  const auto& grade = report.grade();
  if (grade.max_score != full_score && request.filter.empty())
    fail(Errc::internal, "the grader's tests have {} points, not {}", grade.max_score, full_score);
  if (grade.is_full() != (exit_code == passed))
    fail(Errc::internal, "the score is {}, but {}", grade.score, said);
  return grade;
}

std::string title_of(std::string_view test) {
  std::string title(test.substr(test.find('.') + 1));
  std::ranges::replace(title, '_', ' ');
  return title;
}

std::string running_test(const Grade& so_far) {
  const auto ended = static_cast<int>(so_far.tests.size());
  if (so_far.planned == 0) return "starting the tests";
  if (ended >= so_far.planned) return "ending the tests";
  return fmt::format("testing {} of {}", ended + 1, so_far.planned);
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
