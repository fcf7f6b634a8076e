// Trouble: the grader could not do its work. A test that throws it makes the grade void ("ungraded"); any
// other exception inside a test came from an answer, and is a wrong answer.
// OutOfPatience is an exception of the grader's that makes a test fail, too: the runs before have taken all
// the time that a submission has, so this one is not tried.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace judge {

struct Trouble : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline constexpr std::string_view not_tried = "not tried: ";
struct OutOfPatience : std::runtime_error {
  explicit OutOfPatience(const std::string& why) : std::runtime_error(std::string(not_tried) + why) {}
};

}  // namespace judge
