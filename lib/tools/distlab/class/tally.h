// What a class's grades say together.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "distlab/class/grades.h"

namespace distlab {

struct TestTally {
  std::string name;
  int points = 0;
  int passed = 0;  // submissions, of those that were graded
};

struct MisconceptionTally {
  std::string name, explanation;
  std::vector<std::string> students;  // each once
};

// Of the gradings that count.
struct ClassTally {
  static constexpr int bins = 11;  // 0 to 9 points, 10 to 19, ..., 100
  std::array<int, bins> scores{};  // submissions with such a score; refused ones have 0 points
  std::vector<TestTally> tests;    // in the order of the grading
  std::vector<MisconceptionTally> misconceptions;  // the most common first
  int graded = 0, refused = 0, ungraded = 0, flaky = 0;
  double mean = 0, median = 0;  // points, of all but the ungraded
};

ClassTally tally_of(const ClassGrades& grades);

}  // namespace distlab
