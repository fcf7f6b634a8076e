// A test of the tests: runs a grading program on code whose result is known.
//   grading_verdict starter|solution JUDGE RUNNER
//   grading_verdict wrong JUDGE RUNNER FILE     runs the one test that kills a wrong answer; the comment of
//   its
//                                               source FILE names this test and the diagnosis ("none": what
//                                               fails says enough)
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

#include "distlab/grading.h"

namespace {

using distlab::Grade, distlab::GradedTest;

struct Unexpected : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void expect_starter(const Grade& grade) {
  if (grade.score != 0) throw Unexpected("a starter must get 0 points");
  for (const auto& test : grade.tests) {
    if (test.result != GradedTest::Result::todo) throw Unexpected(test.name + " did not fail by DIST_TODO");
  }
}

void expect_solution(const Grade& grade) {
  if (!grade.is_full()) throw Unexpected("a solution must get all points");
}

// The rest of the line of `file` that begins with "// <label>: ".
std::string label(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  const auto start = "// " + name + ": ";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(start)) return line.substr(start.size());
  }
  throw Unexpected(fmt::format("{} has no line that begins with \"{}\"", path, start));
}

void expect_killed(const Grade& grade, const std::string& killer, const std::string& diagnosis) {
  if (grade.tests.size() != 1) throw Unexpected("there is no test " + killer);
  const auto& test = grade.tests.front();
  if (test.result != GradedTest::Result::failed) throw Unexpected("the wrong answer survived " + killer);
  if (test.misconception != (diagnosis == "none" ? "" : diagnosis)) {
    throw Unexpected(
        fmt::format("{} diagnosed \"{}\" instead of \"{}\"", killer, test.misconception, diagnosis));
  }
}

void show(const Grade& grade) {
  fmt::print("score {} of {}, seed {}\n", grade.score, grade.max_score, grade.seed);
  for (const auto& test : grade.tests) {
    fmt::print("{:6} {:>2}/{:<2} {} {}\n", name(test.result), test.points, test.max_points, test.name,
               test.misconception);
    for (const auto& message : test.messages) fmt::print("         {}\n", message);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv, argv + argc);
  if (argc < 4 || (arguments[1] == "wrong") != (argc == 5)) {
    fmt::print(stderr, "usage: {} starter|solution|wrong JUDGE RUNNER [FILE]\n", arguments[0]);
    return 2;
  }
  try {
    const bool is_wrong = arguments[1] == "wrong";
    const auto killer = is_wrong ? label(arguments[4], "Killed by") : "";
    const auto grade =
        distlab::run_grading({.program = arguments[2], .runner = arguments[3], .filter = killer});
    show(grade);
    if (arguments[1] == "starter") expect_starter(grade);
    if (arguments[1] == "solution") expect_solution(grade);
    if (is_wrong) expect_killed(grade, killer, label(arguments[4], "Diagnosis"));
    return 0;
  } catch (const std::exception& error) {
    fmt::print("UNEXPECTED: {}\n", error.what());
    return 1;
  }
}
