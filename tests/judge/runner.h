// The trusted part inside a rank's process: takes the task from the private channel, runs it, reports.
#pragma once

#include <functional>

#include "judge/frame.h"
#include "judge/hidden.h"

namespace judge {

// Serves one task: main() of a lab's runner is `return judge::serve(handle);`. The completion record is sent
// when the answer is out and all that the handler held is released. Graded code is called through attempt();
// an exception that leaves the handler fails the rank, with its text: what a process that is not trusted says
// cannot make a grade void.
// A task for a virtual rank (judge/sim_run.h) is handled as such a rank; its handler returns what attempt()
// gives, and where that is an error, the rank has failed and the others hear of it.
int serve(const std::function<Json(const Json& task)>& handle);

// {"value": graded()}, or {"error": {"code", "what", "todo"}} for what it throws.
Json attempt(const std::function<Json()>& graded);

// A piece of the task's hidden data, from the grader; from any thread. Throws std::runtime_error when the
// grader is gone.
Json fetch(const Request& request);

}  // namespace judge
