#include "dist/group/group_state.h"

namespace dist {

GroupState::GroupState(Identity of, int my_global_rank)
    : identity(std::move(of)), global_rank(my_global_rank), rank(group_rank_of(my_global_rank)) {}

}  // namespace dist
