// check_same: ranks that pass different things to one call are told so, before anything goes wrong by it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "dist/group/process_group.h"

namespace dist {

// Compares what each rank of a group passes to a call that needs the same on all of them. `description` says
// it in lines, one for each thing that may differ: `"h.0.weight", f32 8x8`. `call` is a literal. Every rank
// of the group must call it; it blocks until all have. It takes one small exchange (of a hash); if the hashes
// differ, one more for each line up to the first that does, and then the same Error{mismatch} on every rank:
//   fully_shard at train.cpp:12: rank 1 has "h.0.weight", f32 8x8 where rank 0 has "h.0.weight", f32 8x4: ...
// On a rank that is not a member: Error{invalid_argument}. In a group of one it does nothing.
void check_same(std::string_view call, std::string_view description, const ProcessGroup& group, CallSite at);
// The same for the ranks of a grid: `lines` are the groups of this rank along each axis of it.
void check_same(std::string_view call, std::string_view description, std::span<const ProcessGroup> lines,
                CallSite at);

// The line of the user that a call of the library names in its messages: `at` itself, except where the call
// is made by the C++ library (std::make_unique(), a container's emplace()), whose line would say nothing.
// Then "a line after train.cpp:12", the last line of the user's that is known.
CallSite users_line(CallSite at);

}  // namespace dist
