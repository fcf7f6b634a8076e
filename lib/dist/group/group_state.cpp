#include "dist/group/group_state.h"

#include "dist/core/log.h"

namespace dist {

GroupState::GroupState(Identity of, int my_global_rank)
    : identity(std::move(of)), global_rank(my_global_rank), rank(group_rank_of(my_global_rank)) {}

void GroupState::finish_pending() {
  if (!backend) return;
  for (const auto& given_up : backend->finish()) {
    log(LogLevel::warn, "{} was never waited for, and nothing had arrived when the group was destroyed",
        given_up);
  }
}

}  // namespace dist
