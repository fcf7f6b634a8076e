// What grading one submission of a class has found: it is built once and graded twice.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "distlab/grading.h"

namespace distlab {

struct ClassResult {
  enum class Status {
    graded,
    refused,   // nothing to run, by the submission's fault: 0 points
    ungraded,  // by the grader's fault: no points are known
  };

  std::string name;  // the student's: any bytes
  std::string key;   // of what was handed in, of what graded it and of the seeds; equal keys, equal questions
  Status status = Status::ungraded;
  std::string reason = {};           // why it was refused or is ungraded
  std::vector<Grade> gradings = {};  // two with different seeds when it is graded, else none
  double seconds = 0;                // that all of it took

  // The grading that counts: the one with fewer points, the first of equals. Only where there is one.
  const Grade& lower() const;
  int score() const;  // 0 unless graded
  // The two differ in points or in the tests that passed: other questions or another moment, another result.
  bool is_flaky() const;
  // Compiled and run apart from all it must not see. Refused: nothing ran.
  bool is_practice() const;
};

std::string_view name(ClassResult::Status status);

// The first test that did not pass in the grading that counts; nullptr when there is none.
const GradedTest* first_failing(const ClassResult& result);

// JSON, for the next start and for other programs (result_json.cpp). Unreadable text gives an ungraded
// result.
std::string as_json(const ClassResult& result);
ClassResult read_class_result(const std::string& json);

}  // namespace distlab
