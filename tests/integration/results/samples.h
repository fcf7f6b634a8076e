// Grades whose texts are as awkward as what a student's program may print.
#pragma once

#include <string>
#include <vector>

#include "distlab/grading.h"

namespace results_test {

using distlab::Grade, distlab::GradedTest, distlab::GradeRecord;

// Each breaks one format or another if it is written without escaping.
const std::vector<std::string>& nasty_texts();

// A failed test with this message.
GradedTest failed_test(const std::string& message);
// A graded lab 05 with these tests.
GradeRecord graded(std::vector<GradedTest> tests);
// Two steps, three tests: passed (7 points), failed with a diagnosis, not written yet.
GradeRecord usual();
GradeRecord ungraded(const std::string& reason);

// Whether it is UTF-8 without control characters (except newline and tab), and without the direction marks
// and zero-width characters that the nasty texts have.
bool is_clean(const std::string& text);

// Python's own parsers read what we wrote: `script` gets the text on standard input, and this returns what it
// prints. Empty when there is no python3 here: python_is_missing() says so first.
bool python_is_missing();
std::string python(const std::string& script, const std::string& text);

}  // namespace results_test
