// The files that `distlab grade` leaves behind, in the formats of results/ and json.h.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "distlab/grading.h"

namespace distlab {

// As dist::write_whole_file(). False when that fails; that has been said.
bool replace_file(const std::filesystem::path& path, const std::string& text);

// Empty paths: not wanted.
struct ResultFiles {
  std::filesystem::path json, junit, gradescope, markdown, csv;
};

// Before the grading: false when one cannot be written; that has been said.
bool check_results(const ResultFiles& files);
// Each by replace_file(). False when one cannot be written.
bool write_results(const ResultFiles& files, const GradeRecord& record);
bool write_results(const ResultFiles& files, const std::vector<GradeRecord>& records);  // of several labs
// For those who look while grading goes on: Gradescope shows what is there when it runs out of time.
bool write_unfinished(const ResultFiles& files, const GradeRecord& record);

}  // namespace distlab
