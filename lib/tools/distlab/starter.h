// The untouched file of a lab, even after the student has edited it.
#pragma once

#include <filesystem>
#include <string>

#include "distlab/labs.h"

namespace distlab {

// Returns true if the lab's file differs from the starter in tests/grading/starters.sha256, or is not listed
// there.
bool is_begun(const Lab& lab);

// Returns the text that tests/grading/starters.sha256 lists. It may be in the file itself, in the copy of a
// student's tree (`class handout`), or in the checkout's history. Throws dist::Error{unsupported} if it is in
// none.
std::string starter_of(const Lab& lab);

// Returns the path of that copy in a student's tree, which has no history.
std::filesystem::path kept_starter(const Lab& lab);

}  // namespace distlab
