// The two kinds of spawn(), and what they share.
#pragma once

#include "dist/core/deadline.h"
#include "dist/group/run_rank.h"

namespace dist {

void spawn_processes(int n, const RankFunction& fn, Timeout grace);
void spawn_threads(int n, const RankFunction& fn);

}  // namespace dist
