// Statistics of the grades of a class.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "distlab/class/grades.h"

namespace distlab {

struct TestTally {
  std::string name;
  int points = 0;
  int passed = 0;  // how many of the graded submissions pass it
};

struct MisconceptionTally {
  std::string name, explanation;
  std::vector<std::string> students;  // each once
};

// Only the gradings that count are in these statistics.
struct ClassTally {
  static constexpr int bins = 11;                  // 0 to 9 points, 10 to 19, ..., 100
  std::array<int, bins> scores{};                  // submissions per bin; refused ones have 0 points
  std::vector<TestTally> tests;                    // in the order of the grading
  std::vector<MisconceptionTally> misconceptions;  // the most common first
  int graded = 0, refused = 0, ungraded = 0, flaky = 0;
  double mean = 0, median = 0;  // points of all submissions that are not ungraded
};

ClassTally tally_of(const ClassGrades& grades);

}  // namespace distlab
