// Submission: the one file of a lab, out of what was handed in. Nothing else of it is read.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

namespace judge {

// What was handed in cannot be graded, and why, in words for the student.
struct Refused : std::runtime_error {
  explicit Refused(const std::string& why, std::string words = {})
      : std::runtime_error(why), log(std::move(words)) {}
  std::string log;  // what the compiler or the linker said
};

struct Taken {
  std::string text;
  std::string note =
      {};  // "src/a.cpp was graded, and not a.cpp; hand in one file": which of several different ones
};

// `file` ("labs/03_send_recv/send_recv.cpp") in `handed_in`: that file itself, a folder or a zip
// file with it, at its place or with its bare name, however deep, or with one .cpp file of another name.
// Among several with that name it is the one with the fewest DIST_TODO, so a starter does not hide what was
// written; then the one at its place; then the outermost. Links are not followed. Throws Refused, and another
// std::runtime_error when the system refuses: what we may not read is not the student's fault.
Taken take_submission(const std::filesystem::path& handed_in, const std::filesystem::path& file);

}  // namespace judge
