#include "dist/trace/profiler.h"

#include <mutex>

#include "dist/trace/profiler/find.h"

namespace dist {

void set_profiler(Profiler* profiler) { detail::attached_profiler.store(profiler); }

void attach_profiler() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (Profiler* const found = find_profiler()) set_profiler(found);
  });
}

}  // namespace dist
