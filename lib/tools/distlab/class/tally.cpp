#include "distlab/class/tally.h"

#include <algorithm>
#include <numeric>

namespace distlab {
namespace {

// Returns the entry with that name, and adds it if it is new.
template <class Named>
Named& named(std::vector<Named>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Named::name);
  if (found != all.end()) return *found;
  all.emplace_back().name = name;
  return all.back();
}

void add_tests(const ClassResult& result, ClassTally& tally) {
  for (const auto& test : result.lower().tests) {
    auto& counted = named(tally.tests, test.name);
    counted.points = test.max_points;
    if (test.result == GradedTest::Result::passed) ++counted.passed;
    if (test.misconception.empty()) continue;
    auto& misconception = named(tally.misconceptions, test.misconception);
    misconception.explanation = test.explanation;
    auto& students = misconception.students;
    if (students.empty() || students.back() != result.name) students.push_back(result.name);
  }
}

double median_of(std::vector<int> scores) {
  if (scores.empty()) return 0;
  std::ranges::sort(scores);
  const auto half = scores.size() / 2;
  return scores.size() % 2 == 1 ? scores[half] : (scores[half - 1] + scores[half]) / 2.0;
}

}  // namespace

ClassTally tally_of(const ClassGrades& grades) {
  ClassTally tally;
  std::vector<int> scores;
  for (const auto& result : grades.results) {
    switch (result.status) {
      case ClassResult::Status::graded: ++tally.graded; break;
      case ClassResult::Status::refused: ++tally.refused; break;
      case ClassResult::Status::ungraded: ++tally.ungraded; continue;
    }
    scores.push_back(result.score());
    const int bin = std::clamp(result.score() * (ClassTally::bins - 1) / full_score, 0, ClassTally::bins - 1);
    ++tally.scores[static_cast<std::size_t>(bin)];
    if (result.is_flaky()) ++tally.flaky;
    if (!result.gradings.empty()) add_tests(result, tally);
  }
  tally.median = median_of(scores);
  if (!scores.empty())
    tally.mean = std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(scores.size());
  std::ranges::stable_sort(tally.misconceptions, std::greater{},
                           [](const MisconceptionTally& each) { return each.students.size(); });
  return tally;
}

}  // namespace distlab
