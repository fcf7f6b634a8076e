// The grades of a class, and the files that tell them. Texts for files, complete with their last newline.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "distlab/class/class_result.h"

namespace distlab {

struct ClassGrades {
  std::string lab;                        // its title
  std::uint64_t seed = 0;                 // of the first gradings; the second ones have the next
  std::vector<ClassResult> results = {};  // by name
};

// For programs: each submission with both gradings (result_json.cpp).
std::string as_json(const ClassGrades& grades);
// A row a submission (csv_of_class.cpp).
std::string as_csv(const ClassGrades& grades);
// One page for people, without anything from elsewhere (html_of_class.cpp).
std::string as_html(const ClassGrades& grades);

// One line where not every grade is one of the sandbox, or "".
std::string caveat(const ClassGrades& grades);

}  // namespace distlab
