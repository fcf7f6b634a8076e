// The untouched file of a lab, whatever its reader has made of it.
#pragma once

#include <filesystem>
#include <string>

#include "distlab/labs.h"

namespace distlab {

// The lab's file is not the starter that tests/grading/starters.sha256 lists any more, or is listed nowhere.
bool is_begun(const Lab& lab);

// The text that tests/grading/starters.sha256 lists: of the file itself, of its copy in a student's tree
// (`class handout`), or out of the checkout's history. Throws dist::Error{unsupported} when it is nowhere.
std::string starter_of(const Lab& lab);

// Where a student's tree, which has no history, keeps that copy.
std::filesystem::path kept_starter(const Lab& lab);

}  // namespace distlab
