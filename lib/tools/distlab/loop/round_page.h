// A grade as `watch` shows it: the score, the first failing test with its message, the other tests in short.
#pragma once

#include <string>

#include "distlab/grading.h"

namespace distlab::loop {

// Returns lines for a terminal of `width` columns. `title` is the title of the lab.
std::string grade_page(const std::string& title, const Grade& grade, int width);

}  // namespace distlab::loop
