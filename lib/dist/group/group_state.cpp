#include "dist/group/group_state.h"

#include <algorithm>

namespace dist {

GroupState::GroupState(Identity of, int my_global_rank)
    : identity(std::move(of)), global_rank(my_global_rank), rank(group_rank_of(my_global_rank)) {}

int GroupState::group_rank_of(int global_rank_) const {
  // Most groups are the whole job, or nearly: look where the rank would be then.
  const auto& ranks = identity.ranks;
  if (global_rank_ >= 0 && global_rank_ < size() &&
      ranks[static_cast<std::size_t>(global_rank_)] == global_rank_) {
    return global_rank_;
  }
  const auto found = std::ranges::find(ranks, global_rank_);
  return found == ranks.end() ? -1 : static_cast<int>(found - ranks.begin());
}

}  // namespace dist
