// The formats of a grade other than JSON (json.h). They return the whole text of a file, with its last
// newline.
#pragma once

#include <string>
#include <vector>

#include "distlab/grading.h"

namespace distlab {

// JUnit's XML, one testsuite per lab. An ungraded lab is one testcase with an error.
std::string as_junit(const std::vector<GradeRecord>& records);

// Gradescope's results.json, for one lab. An ungraded lab has 0 points and a text that blames the grader. An
// unfinished grade has the tests so far and a text that says so.
std::string as_gradescope(const GradeRecord& record);

// A heading, a table of the tests (for several labs: a table of the labs), and the first failures.
std::string as_markdown(const std::vector<GradeRecord>& records);

// RFC 4180: a header and one row per test, or one row for a lab without tests. A spreadsheet will not read
// any cell as a formula.
std::string as_csv(const std::vector<GradeRecord>& records);

}  // namespace distlab
