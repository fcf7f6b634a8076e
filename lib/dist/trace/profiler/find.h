// Defined in nvtx.cpp, or in no_nvtx.cpp where there is no CUDA toolkit.
#pragma once

#include "dist/trace/profiler.h"

namespace dist {

Profiler* find_profiler();  // of this process, for as long as it lives; null: none watches it

}  // namespace dist
