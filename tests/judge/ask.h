// Ask: questions to the graded code that need no network: one process, one answer for each case.
#pragma once

#include <string>

#include "judge/frame.h"

namespace judge {

// The task is {"call": call, "cases": cases}; the runner answers with a list of what attempt() gives, one a
// case. A case's "text" says what was asked, where that is an error. The values; empty, and the test has
// failed, when one is missing.
Json ask(const std::string& call, const Json& cases);

}  // namespace judge
