// The formats of a grade, beside JSON (json.h). Texts for files, complete with their last newline.
#pragma once

#include <string>
#include <vector>

#include "distlab/grading.h"

namespace distlab {

// JUnit's XML: one testsuite a lab. An ungraded lab is one testcase with an error.
std::string as_junit(const std::vector<GradeRecord>& records);

// Gradescope's results.json, for one lab. Ungraded: 0 points and words that say whose fault it is.
// Unfinished: the tests so far, and words that say so.
std::string as_gradescope(const GradeRecord& record);

// A heading; a table of the tests, or for several labs one of the labs; the first failures.
std::string as_markdown(const std::vector<GradeRecord>& records);

// RFC 4180, a header and one row a test, or one for a lab without any. No cell is a formula to a spreadsheet.
std::string as_csv(const std::vector<GradeRecord>& records);

}  // namespace distlab
