// Operations whose user is observed: a Work that reports how it is treated, and a blocking call that reports
// when it has returned.
#pragma once

#include <vector>

#include "dist/backend/operation.h"
#include "dist/backend/work.h"
#include "dist/group/group_state.h"

namespace dist {

// Submits an admitted operation to the group's backend.
Work submit(GroupState& group, Operation operation);
// The same for several operations together.
std::vector<Work> submit(GroupState& group, std::vector<Operation> operations);
// Runs an admitted operation as the backend's run() does. The observers are also notified when it returns:
// the simulator needs that.
int run_simulated(GroupState& group, Operation& operation);

}  // namespace dist
