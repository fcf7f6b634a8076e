// The grades of a class, and the files with them. The functions return the whole text of a file, with its
// last newline.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "distlab/class/class_result.h"

namespace distlab {

struct ClassGrades {
  std::string lab;                        // its title
  std::uint64_t seed = 0;                 // of the first gradings; the second ones have seed + 1
  std::vector<ClassResult> results = {};  // by name
};

// JSON with both gradings of each submission, for programs (result_json.cpp).
std::string as_json(const ClassGrades& grades);
// One row per submission (csv_of_class.cpp).
std::string as_csv(const ClassGrades& grades);
// One page that loads nothing from elsewhere (html_of_class.cpp).
std::string as_html(const ClassGrades& grades);

// Returns one line if some grades were not made in the sandbox, otherwise "".
std::string caveat(const ClassGrades& grades);

}  // namespace distlab
