// Cores, memory, limits, and what the kernel permits.
#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dist/core/handles.h"
#include "dist/core/limits.h"

#include "distlab/doctor/doctor.h"
#include "distlab/process.h"

namespace distlab {
namespace {

constexpr double mib = 1 << 20, gib = 1 << 30;

std::string bytes_text(double bytes) {
  return bytes >= gib ? fmt::format("{:.1f} GiB", bytes / gib) : fmt::format("{:.0f} MiB", bytes / mib);
}

// The first number of a file, such as a control group's limit ("max" is none).
std::optional<double> number_in(const char* path) {
  std::ifstream file(path);
  double value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

Finding cores() {
  const std::size_t usable = dist::usable_cpus().size();
  std::string found = fmt::format("{}", usable);
  std::ifstream quota("/sys/fs/cgroup/cpu.max");
  double allowed = 0, period = 0;
  if (quota >> allowed >> period && period > 0) {
    found += fmt::format(", limited to {:.1f} by its control group", allowed / period);
  }
  return {"cores", Health::good, found,
          usable < 4 ? "ranks take turns when there are more of them than cores: results are correct, but "
                       "timings are not those of a larger machine"
                     : ""};
}

double available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string key; file >> key;) {
    double kib = 0;
    if (key == "MemAvailable:" && file >> kib) return kib * 1024;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

Finding memory() {
  double available = available_memory();
  std::string found = fmt::format("{} available", bytes_text(available));
  if (const auto limit = number_in("/sys/fs/cgroup/memory.max")) {
    found += fmt::format(", control group limited to {}", bytes_text(*limit));
    available = std::min(available, *limit);
  }
  const bool enough = available > 2 * gib;
  return {"memory", enough ? Health::good : Health::bad, found,
          enough ? "" : "the build, and demos with 64 MiB on four ranks, need 2 GiB: close other programs"};
}

struct LimitCheck {
  std::string topic;
  __rlimit_resource resource;
  double enough;  // bytes, or a count
  bool is_bytes;
  Health otherwise;
  std::string cost;
};

Finding limit(const LimitCheck& check) {
  const std::uint64_t value = dist::soft_limit(check.resource);
  if (value == dist::unlimited) return {check.topic, Health::good, "unlimited", ""};
  const auto amount = static_cast<double>(value);
  const std::string found = check.is_bytes ? bytes_text(amount) : fmt::format("{:.0f}", amount);
  const bool fine = amount >= check.enough;
  return {check.topic, fine ? Health::good : check.otherwise, found, fine ? "" : check.cost};
}

void add_limits(std::vector<Finding>& findings) {
  findings.push_back(limit({"open files", RLIMIT_NOFILE, 256, false, Health::bad,
                            "each rank needs a few descriptors per peer; raise the limit: ulimit -n 1024"}));
  findings.push_back(
      limit({"locked memory", RLIMIT_MEMLOCK, 64 * mib, true, Health::absent,
             "GPU copies and InfiniBand get little pinned memory; raise the limit: ulimit -l unlimited"}));
  findings.push_back(limit({"address space", RLIMIT_AS, 64 * gib, true, Health::absent,
                            "every rank maps the memory of its peers, so tensors get less room; raise the "
                            "limit: ulimit -v unlimited"}));
  findings.push_back(limit(
      {"file size", RLIMIT_FSIZE, 256 * mib, true, Health::bad,
       "tensors are in memfd segments, which this limit bounds as well; raise it: ulimit -f unlimited"}));
  findings.push_back(limit({"stack", RLIMIT_STACK, 1 * mib, true, Health::bad,
                            "deep call chains crash; raise the limit: ulimit -s 8192"}));
}

Finding dev_shm() {
  struct statvfs info {};
  if (statvfs("/dev/shm", &info) != 0) {
    return {"/dev/shm", Health::absent, "missing", "Open MPI uses files instead; distlab does not need it"};
  }
  const double size = static_cast<double>(info.f_blocks) * static_cast<double>(info.f_frsize);
  const bool fine = size >= 256 * mib;
  return {
      "/dev/shm", fine ? Health::good : Health::absent, bytes_text(size),
      fine ? "" : "Open MPI and NCCL keep their buffers there, distlab does not; in docker: --shm-size=1g"};
}

Finding memfd() {
  const dist::UniqueFd fd(memfd_create("distlab-doctor", MFD_CLOEXEC));
  if (fd && ftruncate(fd.get(), 4096) == 0) return {"memfd", Health::good, "works", ""};
  return {"memfd", Health::bad, "refused",
          "tensors are in memfd segments, so nothing runs without them; use Linux 3.17 or newer, or relax "
          "seccomp"};
}

Finding abstract_sockets() {
  const dist::UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;  // autobind: the kernel picks a free abstract name
  if (fd && bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address.sun_family) == 0) {
    return {"abstract sockets", Health::good, "work", ""};
  }
  return {"abstract sockets", Health::bad, "refused",
          "the ranks of one node connect through them, so nothing runs without them; relax the sandbox"};
}

Finding network_namespaces() {
  const pid_t child = fork();
  if (child == 0) _exit(unshare(geteuid() == 0 ? CLONE_NEWNET : CLONE_NEWUSER | CLONE_NEWNET) == 0 ? 0 : 1);
  int status = 1;
  waitpid(child, &status, 0);
  if (child > 0 && status == 0) return {"network namespaces", Health::good, "permitted", ""};
  return {"network namespaces", Health::absent, "not permitted", "the two-hosts test is skipped"};
}

Finding bubblewrap() {
  const std::string path = find_program("bwrap");
  if (path.empty()) {
    return {"bubblewrap", Health::absent, "not found",
            "grades are marked \"practice\", which is enough for your own work, but not for grading others: "
            "apt-get install bubblewrap"};
  }
  const auto tried = run_captured({path, "--ro-bind", "/", "/", "--unshare-all", "true"});
  if (tried.exit_code == 0) return {"bubblewrap", Health::good, path, ""};
  return {"bubblewrap", Health::absent,
          fmt::format("{} is refused: {}", path, tried.output.substr(0, tried.output.find('\n'))),
          "grades are marked \"practice\"; in a container, allow user namespaces"};
}

}  // namespace

std::vector<Finding> check_machine() {
  std::vector<Finding> findings{cores(), memory()};
  add_limits(findings);
  for (auto* check : {dev_shm, memfd, abstract_sockets, network_namespaces, bubblewrap}) {
    findings.push_back(check());
  }
  return findings;
}

}  // namespace distlab
