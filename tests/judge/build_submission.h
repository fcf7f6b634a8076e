// A submission becomes a runner: taken out of what was handed in, compiled, looked at and linked, all of it
// in the sandbox, by the commands that build the lab's own file.
#pragma once

#include <filesystem>
#include <string>

#include "judge/kit.h"
#include "judge/sandbox.h"

namespace judge {

struct BuiltRunner {
  std::filesystem::path program;
  Isolation isolation = Isolation::limits;  // the weakest of its steps
  std::string note = {};                    // of Taken (submission.h)
};

// `into`: a folder that is kept, for the program. Throws Refused (submission.h) when it is the submission's
// fault, with the compiler's words; std::runtime_error when it is ours.
BuiltRunner build_submission(const Lab& lab, const std::filesystem::path& handed_in,
                             const std::filesystem::path& into);

}  // namespace judge
