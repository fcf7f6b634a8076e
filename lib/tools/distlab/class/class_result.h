// The result of one submission of a class, which is built once and graded twice.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "distlab/grading.h"

namespace distlab {

struct ClassResult {
  enum class Status {
    graded,
    refused,   // nothing could be run because of the submission: 0 points
    ungraded,  // the grader failed: the points are not known
  };

  std::string name;  // of the student; any bytes
  std::string key;   // digests of submission and grader, and the seed; equal keys mean equal random tests
  Status status = Status::ungraded;
  std::string reason = {};  // why it was refused or is ungraded, or which of several files was graded
  std::vector<Grade> gradings = {};  // two with different seeds if it was graded, otherwise none
  double seconds = 0;                // that build and gradings took

  // Returns the grading that counts: the one with fewer points, or the first of two equal ones. There must be
  // one.
  const Grade& lower() const;
  int score() const;  // 0 unless graded
  // The two gradings differ in points or in the tests that passed: the result depends on the random tests or
  // on timing.
  bool is_flaky() const;
  // A grading was not compiled and run in the sandbox. False for refused submissions, of which nothing ran.
  bool is_practice() const;
};

std::string_view name(ClassResult::Status status);

// Returns the first test that did not pass in the grading that counts, or nullptr when all passed.
const GradedTest* first_failing(const ClassResult& result);

// JSON, for the next run and for other programs (result_json.cpp). An unreadable text gives an ungraded
// result.
std::string as_json(const ClassResult& result);
ClassResult read_class_result(const std::string& json);

}  // namespace distlab
