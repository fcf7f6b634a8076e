#include "dist/core/memory_limit.h"

#include <algorithm>
#include <fstream>

#include <unistd.h>

namespace dist {

std::size_t physical_memory() {
  static const std::size_t bytes = [] {
    auto least = static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) *
                 static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
      std::size_t limit = 0;
      if (std::ifstream(path) >> limit && limit > 0) least = std::min(least, limit);  // "max" is no number
    }
    return least;
  }();
  return bytes;
}

}  // namespace dist
