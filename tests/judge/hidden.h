// Hidden: data that a question keeps in the grader. A graded process has it piece by piece, as its runner
// asks for it (fetch() in runner.h), so the grader knows what was read, and when reading ends.
#pragma once

#include <cstdint>
#include <functional>

#include "judge/frame.h"

namespace judge {

// Which piece; the lab's runner and its grader agree on what the numbers mean.
struct Request {
  std::int64_t of = 0, index = 0;
};

// The piece of data for a rank's request; null where there is none. It is called for each request, in the
// order in which they come, and does not throw: the numbers are a submission's.
using Hidden = std::function<Json(int rank, const Request& request)>;

}  // namespace judge
