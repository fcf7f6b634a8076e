// All that distlab reads and writes as JSON. Only json.cpp includes nlohmann-json, which takes long to
// compile.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "distlab/doctor.h"
#include "distlab/grading.h"

namespace distlab {

// The report that a grading program writes with --gtest_output=json. Throws std::exception when it is none.
Grade read_judge_report(const std::filesystem::path& file);

// One run of `distlab grade`.
struct GradeRecord {
  std::string lab;             // its folder
  std::string graded_file;     // "lab" or "solution"
  std::optional<Grade> grade;  // nothing: the judge could not do its work, and ...
  std::string reason;          // ... why
};

// Without a newline at the end.
std::string as_json(const GradeRecord& record);                  // `grade --json`
std::string as_json(const std::vector<Section>& of_the_doctor);  // `doctor --json`

}  // namespace distlab
