// What somebody handed in, built for grading: in the sandbox, from the lab's one file alone.
#pragma once

#include <filesystem>
#include <string>

#include "distlab/labs.h"

namespace distlab {

struct BuiltSubmission {
  std::filesystem::path runner;
  std::string isolation;  // of the compiler, as Grade::isolation
  std::string refused;    // why there is no runner: it was not handed in, does not compile, ...
};

// `handed_in`: the file, a folder or a zip file with it. The runner lies in `into`. Throws
// dist::Error{internal} when the fault is not the submission's.
BuiltSubmission build_submission(const Lab& lab, const std::filesystem::path& handed_in,
                                 const std::filesystem::path& into);

}  // namespace distlab
