// Prints a grade for `distlab grade`: each test with what is wrong, the score, and what to do next.
#pragma once

#include <memory>

#include "distlab/grading.h"
#include "distlab/labs.h"
#include "distlab/waiting.h"

namespace distlab {

class TestPrinter;

// On a terminal each test is printed as it ends, and below it the line "testing 7 of 18, 12 s so far" is
// rewritten. Elsewhere everything is printed at the end. The text that stays is the same.
class GradeText {
 public:
  // `quiet`: without the reasons that a failure may have.
  GradeText(const Lab& lab, bool quiet);
  ~GradeText();
  GradeText(const GradeText&) = delete;
  GradeText& operator=(const GradeText&) = delete;

  void add(const Grade& so_far);
  // `record.grade` must have a value.
  void end(const GradeRecord& record);

 private:
  void print_title();
  void print_tests(const Grade& grade);  // those that are not printed yet

  const Lab& lab_;
  std::unique_ptr<TestPrinter> tests_;
  Waiting waiting_;
  bool has_title_ = false;
  std::size_t printed_ = 0;  // tests
  int part_ = 0;             // of the last one
};

}  // namespace distlab
