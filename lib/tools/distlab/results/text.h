// Texts that the formats share.
#pragma once

#include <string>
#include <string_view>

#include "distlab/grading.h"

namespace distlab {

// Turns any bytes into a text that every format can contain, and that reads as it is: UTF-8 (other bytes
// become U+FFFD) without control characters other than newline and tab, direction marks, and characters that
// look like nothing (they become \xNN, \uNNNN or \UNNNNNNNN), whose lines end with \n. A text that is clean
// stays as it is.
std::string clean(std::string_view bytes);

// Returns all messages and the diagnosis, cleaned; empty for a test that passed without messages.
std::string explanation_of(const GradedTest& test);

// "graded", "ungraded", "unfinished".
std::string_view status(const GradeRecord& record);

// Returns one line: "65 of 100 points".
std::string summary(const GradeRecord& record);

// Returns a sentence if the points are not a trusted grade, otherwise "".
std::string caveat(const GradeRecord& record);

// Returns what a student reads about an ungraded record, with the reason; cleaned.
std::string apology(const GradeRecord& record);

}  // namespace distlab
