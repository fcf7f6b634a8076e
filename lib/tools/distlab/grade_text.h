// Prints a grade for `distlab grade`: each test with what is wrong, the score, and what to do next.
#pragma once

#include "distlab/grading.h"
#include "distlab/labs.h"

namespace distlab {

// `record.grade` must have a value.
void print_grade(const Lab& lab, const GradeRecord& record);

}  // namespace distlab
