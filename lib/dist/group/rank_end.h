// Ways in which a rank ends other than by returning from its function.
#pragma once

#include <exception>

#include "dist/group/run_rank.h"

namespace dist {

RankResult describe_end(std::exception_ptr error);  // its function threw this
// For a process that fn has forked and that reaches fn's end: it is not the rank, so nothing is reported, and
// everything that must be left or freed belongs to the rank.
[[noreturn]] void end_forked_child(int rank, const RankResult& result);

}  // namespace dist
