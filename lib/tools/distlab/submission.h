// Builds a submission for grading, in the sandbox, from the one file of the lab.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "distlab/grading.h"
#include "distlab/labs.h"

namespace distlab {

struct BuiltSubmission {
  std::filesystem::path runner;
  std::string isolation;     // of the compiler, as Grade::isolation
  std::int64_t work_ms = 0;  // of compiler and linker
  std::string note;          // which of several files it is, if there were different ones
  // Why there is no runner: "a.cpp does not compile:" and the first errors. Empty: there is a runner.
  std::string refused;
};

// `handed_in` is the file, or a folder or zip file that contains it. The runner is made in `into`. Throws
// dist::Error{internal} when something other than the submission is wrong.
BuiltSubmission build_submission(const Lab& lab, const std::filesystem::path& handed_in,
                                 const std::filesystem::path& into);

// Grades a built submission. `request` has everything but the programs. Throws what run_grading() throws.
Grade grade_built(const Lab& lab, const BuiltSubmission& built, GradeRequest request);

// Builds and grades a submission. `request` has everything but the programs. Sets the record's grade, and the
// reason when there was nothing to run. Throws what build_submission() and run_grading() throw.
void grade_submission(const Lab& lab, const std::filesystem::path& handed_in, GradeRequest request,
                      GradeRecord& record);

}  // namespace distlab
