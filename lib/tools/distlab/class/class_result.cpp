#include "distlab/class/class_result.h"

#include <algorithm>
#include <set>

namespace distlab {
namespace {

std::set<std::string> passed_tests(const Grade& grade) {
  std::set<std::string> names;
  for (const auto& test : grade.tests) {
    if (test.result == GradedTest::Result::passed) names.insert(test.name);
  }
  return names;
}

}  // namespace

const Grade& ClassResult::lower() const { return *std::ranges::min_element(gradings, {}, &Grade::score); }

int ClassResult::score() const { return gradings.empty() ? 0 : lower().score; }

bool ClassResult::is_flaky() const {
  return std::ranges::any_of(gradings, [&](const Grade& grade) {
    return grade.score != gradings.front().score || passed_tests(grade) != passed_tests(gradings.front());
  });
}

bool ClassResult::is_practice() const { return !std::ranges::all_of(gradings, &Grade::is_trusted); }

std::string_view name(ClassResult::Status status) {
  switch (status) {
    case ClassResult::Status::graded: return "graded";
    case ClassResult::Status::refused: return "refused";
    case ClassResult::Status::ungraded: return "ungraded";
  }
  __builtin_unreachable();
}

const GradedTest* first_failing(const ClassResult& result) {
  if (result.gradings.empty()) return nullptr;
  const auto& tests = result.lower().tests;
  const auto found = std::ranges::find_if(
      tests, [](const GradedTest& test) { return test.result != GradedTest::Result::passed; });
  return found == tests.end() ? nullptr : &*found;
}

}  // namespace distlab
