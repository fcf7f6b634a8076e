// The result files of `distlab grade`, in the formats of results/ and json.h.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "distlab/grading.h"

namespace distlab {

// Like dist::write_whole_file(). If that fails, prints the error and returns false.
bool replace_file(const std::filesystem::path& path, const std::string& text);

// An empty path means that this file is not wanted.
struct ResultFiles {
  std::filesystem::path json, junit, gradescope, markdown, csv;
};

// Call it before grading: if a file cannot be written, prints the error and returns false.
bool check_results(const ResultFiles& files);
// Each writes the files with replace_file(), and returns false when one cannot be written.
bool write_results(const ResultFiles& files, const GradeRecord& record);
bool write_results(const ResultFiles& files, const std::vector<GradeRecord>& records);  // of several labs
// Writes the result so far while grading continues: Gradescope shows it if the time limit is reached.
bool write_unfinished(const ResultFiles& files, const GradeRecord& record);

}  // namespace distlab
