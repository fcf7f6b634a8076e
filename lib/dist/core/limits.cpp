// What the system allows this process: memory (also by control groups), CPUs and cores, and the limits of
// ulimit, with the sentences that name the limit behind an errno.
#include "dist/core/limits.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dist/core/fail.h"

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
      if (std::ifstream(path) >> limit && limit > 0) least = std::min(least, limit);  // "max" is not a number
    }
    return least;
  }();
  return bytes;
}

std::vector<int> usable_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &set)) cpus.push_back(i);
  return cpus;
}

// The file holds "quota period" in microseconds; "max" means no quota.
int cpu_quota() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double quota = 0, period = 0;
  return file >> quota >> period && period > 0 ? static_cast<int>(std::ceil(quota / period)) : 0;
}

int usable_cores() {
  const int cpus = std::max(1, static_cast<int>(usable_cpus().size())), quota = cpu_quota();
  return quota > 0 ? std::min(cpus, quota) : cpus;
}

std::uint64_t soft_limit(int resource) {
  const rlim_t limit = limit_of(resource).rlim_cur;
  return limit == RLIM_INFINITY ? unlimited : limit;
}

std::string limit_text(int resource) {
  const std::uint64_t limit = soft_limit(resource);
  return limit == unlimited ? "unlimited" : fmt::format("{} MiB", limit >> 20);
}

void raise_soft_limit(int resource, std::uint64_t wanted) {
  rlimit limit = limit_of(resource);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
  ::setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
}

void make_room_for_descriptors(int ranks, std::string_view launcher) {
  const auto n = static_cast<std::uint64_t>(ranks);
  const std::uint64_t needed = 16 + 4 * n, comfortable = 64 + 8 * n;
  raise_soft_limit(RLIMIT_NOFILE, comfortable);
  if (const std::uint64_t allowed = soft_limit(RLIMIT_NOFILE); allowed < needed)
    fail(Errc::resource, "{}: {} ranks need {} open files here, and the limit is {}; raise it: ulimit -n {}",
         launcher, ranks, needed, allowed, comfortable);
}

std::uint64_t free_address_space() {
  const std::uint64_t limit = soft_limit(RLIMIT_AS);
  if (limit == unlimited) return unlimited;
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return limit - std::min(limit, pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
}

void expect_descriptors(std::size_t more, const std::string& what) {
  std::error_code unknown;
  std::uint64_t open = 0;
  for (std::filesystem::directory_iterator fd("/proc/self/fd", unknown), end; !unknown && fd != end;
       fd.increment(unknown))
    ++open;
  raise_soft_limit(RLIMIT_NOFILE, open + more);
  if (open + more > soft_limit(RLIMIT_NOFILE))
    fail(Errc::resource, "{} needs {} more file descriptors than the {} that are open{}; raise it", what,
         more, open, limit_behind(EMFILE));
}

std::string limit_behind(int error_number) {
  const std::uint64_t files = soft_limit(RLIMIT_NOFILE), tasks = soft_limit(RLIMIT_NPROC);
  switch (error_number) {
    case EMFILE: return fmt::format("; a process may have {} open files here (ulimit -n)", files);
    case ENFILE: return "; this machine's table of open files is full (fs.file-max)";
    case EFBIG: return fmt::format("; a file may have {} here (ulimit -f)", limit_text(RLIMIT_FSIZE));
    case ENOMEM:
      if (soft_limit(RLIMIT_AS) == unlimited) return "";
      return fmt::format("; a process may map {} here (ulimit -v)", limit_text(RLIMIT_AS));
    case EAGAIN:  // from fork() and for new threads
      return fmt::format(
          "; a user may have {} processes and threads here (ulimit -u), a container may have fewer "
          "(pids.max){}",
          tasks == unlimited ? "any number of" : std::to_string(tasks), limit_behind(ENOMEM));
    default: return "";
  }
}

}  // namespace dist
