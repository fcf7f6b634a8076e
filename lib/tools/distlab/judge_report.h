// JudgeReport reads the report of a grader (tests/judge/report.h) while it is being written.
#pragma once

#include <filesystem>

#include "distlab/grading.h"

namespace distlab {

class JudgeReport {
 public:
  explicit JudgeReport(std::filesystem::path file) : file_(std::move(file)) {}

  // Reads the lines that are complete by now, and calls `on_test` as GradeRequest says.
  // Throws std::exception for a line that does not belong in a report.
  void read_more(const GradeSink& on_test);
  // Returns true when the last line has been read: no other test will follow.
  bool is_complete() const { return is_complete_; }
  const Grade& grade() const { return grade_; }  // of the tests so far

 private:
  void take(const std::string& line, const GradeSink& on_test);

  std::filesystem::path file_;
  std::streamoff read_ = 0;  // bytes
  bool has_begun_ = false, is_complete_ = false;
  Grade grade_;
};

}  // namespace distlab
