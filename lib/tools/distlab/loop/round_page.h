// What `watch` shows of a grade: the verdict, the first test that fails with its message, the rest in short.
#pragma once

#include <string>

#include "distlab/grading.h"

namespace distlab::loop {

// Lines for a terminal of `width` columns. `title` is the lab's.
std::string grade_page(const std::string& title, const Grade& grade, int width);

}  // namespace distlab::loop
