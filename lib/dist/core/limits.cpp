#include "dist/core/limits.h"

#include <algorithm>
#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

namespace dist {

namespace {

rlimit limit_of(int resource) {
  rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  ::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
  return limit;
}

}  // namespace

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

std::uint64_t soft_limit(int resource) {
  const rlim_t limit = limit_of(resource).rlim_cur;
  return limit == RLIM_INFINITY ? unlimited : limit;
}

void raise_soft_limit(int resource, std::uint64_t wanted) {
  rlimit limit = limit_of(resource);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
  ::setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
}

}  // namespace dist
