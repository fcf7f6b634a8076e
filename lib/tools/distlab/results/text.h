// What the formats share.
#pragma once

#include <string>
#include <string_view>

#include "distlab/grading.h"

namespace distlab {

// Any bytes as a text that every format can hold: UTF-8 (what is none becomes U+FFFD), no control characters
// but newline and tab (they become \xNN), lines end with \n.
std::string clean(std::string_view bytes);

// All that is wrong, and the diagnosis; cleaned. Empty for a test that passed without a word.
std::string explanation_of(const GradedTest& test);

// "graded", "ungraded", "unfinished".
std::string_view status(const GradeRecord& record);

// In a line: "65 of 100 points".
std::string summary(const GradeRecord& record);

// A sentence where the points are no ground for a trusted grade, or "".
std::string caveat(const GradeRecord& record);

// What an ungraded record says to a student, with the reason; cleaned.
std::string apology(const GradeRecord& record);

}  // namespace distlab
