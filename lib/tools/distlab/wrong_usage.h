// Wrong usage that the command itself finds.
#pragma once

#include "dist/core/error.h"

namespace distlab {

// Call it while `error` is being handled: prints an Error{invalid_argument} and returns exit_usage; rethrows
// any other error.
int wrong_usage(const dist::Error& error);

// Returns true if the command is only to check its options. The script ./distlab asks for that
// (DISTLAB_CHECK_ONLY) before it spends minutes building what the command needs.
bool only_checks();

}  // namespace distlab
