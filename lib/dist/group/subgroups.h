// Groups of one size, or by lists, as torch.distributed's new_subgroups().
#pragma once

#include <vector>

#include "dist/group/process_group.h"

namespace dist {

// Cuts the parent into groups of `group_size` ranks that follow one another, and returns this rank's. Every
// rank of the parent must call it. Throws Error{invalid_argument} if group_size does not divide its size, and
// Error{mismatch}, on all ranks, if they pass different ones.
ProcessGroup new_subgroups(int group_size, const SplitOptions& options = {}, Caller at = Caller::here());
// One group for each list of global ranks, and returns this rank's; a rank in none of the lists gets a handle
// without members. Every rank of the parent must call it with the same lists (Error{mismatch}); no rank is in
// two of them.
ProcessGroup new_subgroups_by_enumeration(const std::vector<std::vector<int>>& lists,
                                          const SplitOptions& options = {}, Caller at = Caller::here());

}  // namespace dist
