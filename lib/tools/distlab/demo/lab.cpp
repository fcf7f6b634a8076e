// Scene 6: what a student sees. The grader of the first lab grades the file in labs/ as it is, then the
// solution, which must get all points. The lab's programs are built here, so that the scenes before this one
// need not wait for them.
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dist/core/fail.h"

#include "distlab/demo/demo.h"
#include "distlab/grading.h"
#include "distlab/labs.h"
#include "distlab/loop/build.h"
#include "distlab/terminal.h"
#include "distlab/waiting.h"
#include "distlab/workspace.h"

namespace distlab::demo {
namespace {

void build(const Lab& lab, bool has_solution) {
  std::vector<std::string> targets{fmt::format("lab_{:02}", lab.number)};
  if (has_solution) targets.push_back(targets.front() + "_solution");
  Waiting waiting;
  bool told = false;
  const auto built = loop::build_targets(targets, [&](const std::string& done) {
    if (!std::exchange(told, true)) {
      waiting.clear();
      fmt::print("   building the grader, about a minute the first time\n");
      std::fflush(stdout);
    }
    waiting.show("   building " + done);
  });
  if (!built.succeeded)
    dist::fail(dist::Errc::internal, "the build of {} failed, see {}", lab.folder, built.log_file);
}

Grade grade(const Lab& lab, const std::string& runner) {
  Waiting waiting("   starting the tests");
  return run_grading({.program = lab_program(lab, "grade"),
                      .runner = lab_program(lab, runner),
                      .seed = {},
                      .on_test = [&](const Grade& so_far) { waiting.show("   " + running_test(so_far)); }});
}

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

void print(const std::string& what, const Grade& grade) {
  fmt::print("   {} {}\n", what,
             styled(grade.is_full() ? Style::good : Style::bold,
                    fmt::format("{} of {} points", grade.score, grade.max_score)));
  for (const auto& test : grade.tests) {
    if (test.result == GradedTest::Result::passed || test.messages.empty()) continue;
    fmt::print("      {}\n", wrapped(first_line(test.messages.front()), terminal_width(), 6));
    return;
  }
}

}  // namespace

void grade_a_lab() {
  const auto lab = find_labs().front();
  const bool has_solution = std::filesystem::exists(workspace().root / "solutions");
  fmt::print("   {}\n", lab.title);
  build(lab, has_solution);
  print("your file as it is:", grade(lab, "runner"));
  if (!has_solution) return;  // a student's tree
  const auto solved = grade(lab, "solution_runner");
  print("the solution:", solved);
  if (!solved.is_full())
    dist::fail(dist::Errc::internal, "the solution of {} must get all points", lab.folder);
}

}  // namespace distlab::demo
