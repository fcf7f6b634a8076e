// The mismatch check (DIST_DEBUG=detail): before a collective runs, its ranks compare what they are about to
// do.
#pragma once

#include "dist/backend/operation.h"
#include "dist/group/group_state.h"

namespace dist {

// Error{mismatch} on every rank says who is in which collective, or whose sizes do not fit; Error{timeout}
// names the ranks that did not come to a collective with this number. Blocks until all have come.
void compare_fingerprints(GroupState& group, const Operation& operation);

}  // namespace dist
