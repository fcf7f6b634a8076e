// What distrun does on one node: it starts the ranks, restarts them after a failure if that is allowed, and
// reports.
#pragma once

#include "guardian.h"
#include "options.h"
#include "signals.h"

namespace distrun {

// Returns the exit code: 0, that of the first rank to fail (128 + signal), or 128 + the signal that ended
// distrun.
int run(Options options, Guardian& guardian, Signals& signals);

}  // namespace distrun
