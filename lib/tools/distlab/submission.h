// What somebody handed in, built for grading: in the sandbox, from the lab's one file alone.
#pragma once

#include <filesystem>
#include <string>

#include "distlab/grading.h"
#include "distlab/labs.h"

namespace distlab {

struct BuiltSubmission {
  std::filesystem::path runner;
  std::string isolation;  // of the compiler, as Grade::isolation
  std::string
      refused;  // why there is no runner: "a.cpp does not compile:" and the first errors; empty: there is one
};

// `handed_in`: the file, a folder or a zip file with it. The runner lies in `into`. Throws
// dist::Error{internal} when the fault is not the submission's.
BuiltSubmission build_submission(const Lab& lab, const std::filesystem::path& handed_in,
                                 const std::filesystem::path& into);

// Grades what was built; `request` has all but the programs. Throws as run_grading().
Grade grade_built(const Lab& lab, const BuiltSubmission& built, GradeRequest request);

// Builds and grades it; `request` has all but the programs. Fills in the grade, and the reason where there
// was nothing to run. Throws as build_submission() and run_grading().
void grade_submission(const Lab& lab, const std::filesystem::path& handed_in, GradeRequest request,
                      GradeRecord& record);

}  // namespace distlab
