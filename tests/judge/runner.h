// The trusted part inside a rank's process: takes the task from the private channel, runs it, reports.
#pragma once

#include <exception>
#include <functional>
#include <string>

#include "dist/core/error.h"
#include "dist/core/todo.h"

#include "judge/frame.h"

namespace judge {

// Serves one task: main() of a lab's runner is `return judge::serve(handle);`. The completion record is sent
// when the answer is out and all that the handler held is released. Graded code is called through attempt();
// an exception that leaves the handler is reported as the judge's own fault.
int serve(const std::function<Json(const Json& task)>& handle);

// {"value": f()}, or {"error": {"code", "what", "todo"}} for what it throws.
template <class F>
Json attempt(F&& f) {
  auto error = [](std::string_view code, const char* what, bool todo) {
    return Json{{"error", {{"code", code}, {"what", what}, {"todo", todo}}}};
  };
  try {
    return {{"value", f()}};
  } catch (const dist::Todo& todo) {
    return error(name(todo.code()), todo.what(), true);
  } catch (const dist::Error& e) {
    return error(name(e.code()), e.what(), false);
  } catch (const std::exception& e) {
    return error("exception", e.what(), false);
  }
}

}  // namespace judge
