// What makes no sense on the command line, found by the command itself.
#pragma once

#include "dist/core/error.h"

namespace distlab {

// While `error` is being handled: says Error{invalid_argument} and returns exit_usage, throws any other
// again.
int wrong_usage(const dist::Error& error);

// Whether a command is only to say what is wrong with what it was given: the script ./distlab asks so
// (DISTLAB_CHECK_ONLY) before it builds for minutes what the command needs.
bool only_checks();

}  // namespace distlab
