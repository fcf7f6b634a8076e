#include "dist/trace/profiler/find.h"

namespace dist {

Profiler* find_profiler() { return nullptr; }

}  // namespace dist
