// The OperationObserver of a group: the flight recorder's states, the mismatch check, and the other ranks'
// state in timeouts.
#pragma once

#include <memory>

#include "dist/backend/observer.h"
#include "dist/group/group_state.h"

namespace dist {

std::unique_ptr<OperationObserver> make_group_observer(JobState& job, GroupState& group);

}  // namespace dist
