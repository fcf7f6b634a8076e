// distrun's part on one node: start the ranks, start them again when one failed and that is allowed, report.
#pragma once

#include "guardian.h"
#include "options.h"
#include "signals.h"

namespace distrun {

// Returns the exit code: 0, that of the first rank to fail (128 + signal), or 128 + the signal that ended us.
int run(Options options, Guardian& guardian, Signals& signals);

}  // namespace distrun
