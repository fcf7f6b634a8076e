// DIST_TODO: marks what a lab leaves for you to write.
//
//   DIST_TODO("lab 01, part 2: publish this rank's entry, wait for all, collect");
#pragma once

#include <string_view>

#include <fmt/format.h>

#include "dist/core/call_site.h"
#include "dist/core/error.h"

namespace dist {

// Thrown by code that is still to be written. It has a type of its own, so that a grader can distinguish "not
// written" from "wrong".
class Todo : public Error {
 public:
  Todo(std::string_view what, CallSite where)
      : Error(Errc::unsupported, fmt::format("{}: not written yet ({})", what, where.str())) {}
};

}  // namespace dist

// Throws; the rest of the function may be missing, its return statement included.
#define DIST_TODO(what) throw ::dist::Todo(what, ::dist::CallSite::current())
