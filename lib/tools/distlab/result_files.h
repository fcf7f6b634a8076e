// The files that `distlab grade` leaves behind, in the formats of results/ and json.h.
#pragma once

#include <filesystem>
#include <vector>

#include "distlab/grading.h"

namespace distlab {

// Empty paths: not wanted.
struct ResultFiles {
  std::filesystem::path json, junit, gradescope, markdown, csv;
};

// Each file is complete whenever somebody looks: it is written beside its place and then moved there. False
// when one cannot be written; that has been said.
bool write_results(const ResultFiles& files, const GradeRecord& record);
bool write_results(const ResultFiles& files, const std::vector<GradeRecord>& records);  // of several labs
// For those who look while grading goes on: Gradescope shows what is there when it runs out of time.
bool write_unfinished(const ResultFiles& files, const GradeRecord& record);

}  // namespace distlab
