// Defined in nvtx.cpp, or in no_nvtx.cpp where there is no CUDA toolkit.
#pragma once

#include "dist/trace/profiler.h"

namespace dist {

Profiler* find_profiler();  // this process's, forever; null: none watches it

}  // namespace dist
