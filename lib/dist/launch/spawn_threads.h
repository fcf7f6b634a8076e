// spawn() with ranks that are threads of this process.
#pragma once

#include "dist/group/run_rank.h"

namespace dist {

void spawn_threads(int n, const RankFunction& fn);

}  // namespace dist
