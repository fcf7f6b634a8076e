// Ask: questions to the graded code that need no network: one process, one answer for each case.
#pragma once

#include <string>

#include "judge/frame.h"
#include "judge/hidden.h"

namespace judge {

// The task is {"call": call, "cases": cases}; the runner answers with a list of what attempt() gives, one per
// case. A case's "text" names the case in the message if it ends with an error. `hidden`: data that the
// process may ask for while it runs. Returns the values; if one is missing, the test has failed and the
// result is empty.
Json ask(const std::string& call, const Json& cases, const Hidden& hidden = {});

}  // namespace judge
