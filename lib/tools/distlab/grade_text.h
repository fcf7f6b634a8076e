// What `distlab grade` prints of a grade: each test with what is wrong, the score, and where to go on.
#pragma once

#include "distlab/grading.h"
#include "distlab/labs.h"

namespace distlab {

// `record.grade` is there.
void print_grade(const Lab& lab, const GradeRecord& record);

}  // namespace distlab
