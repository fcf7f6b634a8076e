// Trouble: the grader could not do its work. A test that throws it makes the grade void ("ungraded"); any
// other exception inside a test came from an answer, and is a wrong answer.
#pragma once

#include <stdexcept>

namespace judge {

struct Trouble : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace judge
