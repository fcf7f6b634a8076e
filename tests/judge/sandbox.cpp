#include "judge/sandbox.h"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/wait.h>
#include <unistd.h>

#include "judge/child.h"

namespace judge {
namespace fs = std::filesystem;
namespace {

using Argv = std::vector<std::string>;

constexpr const char *bubblewrap = "/usr/bin/bwrap", *limiter = "/usr/bin/prlimit";
constexpr uid_t nobody = 65534;

// Files of this program's own libraries that do not come from the system: the graded program links them too.
std::set<std::string> own_libraries() {
  std::set<std::string> found;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* to) {
        const std::string path = object->dlpi_name;
        if (path.starts_with('/') && !path.starts_with("/usr/") && !path.starts_with("/lib"))
          static_cast<std::set<std::string>*>(to)->insert(path);
        return 0;
      },
      &found);
  return found;
}

Argv in_bubblewrap(const std::string& program, const Limits& limits, Network network) {
  Argv argv{bubblewrap,      "--unshare-all", "--die-with-parent",
            "--new-session", "--cap-drop",    "ALL",
            "--uid",         "65534",         "--gid",
            "65534",         "--hostname",    "rank",
            "--proc",        "/proc",         "--dev",
            "/dev",          "--size",        std::to_string(16 << 20),
            "--tmpfs",       "/tmp",          "--chdir",
            "/tmp",          "--ro-bind",     "/usr",
            "/usr"};
  const auto add = [&](const Argv& more) { argv.insert(argv.end(), more.begin(), more.end()); };
  if (network == Network::none) add({"--share-net"});  // it meets the judge's store there
  for (const char* folder : {"lib", "lib64", "bin", "sbin"}) {
    const fs::path path = fs::path("/") / folder;
    if (fs::is_symlink(path))
      add({"--symlink", fs::read_symlink(path), path});
    else if (fs::exists(path))
      add({"--ro-bind", path, path});
  }
  for (const char* file : {"/etc/ld.so.cache", "/etc/alternatives"}) add({"--ro-bind-try", file, file});
  for (const std::string& library : own_libraries()) add({"--ro-bind", library, library});
  add({"--ro-bind", program, program});
  add({"--", limiter, fmt::format("--nproc={0}:{0}", limits.processes), program});
  return argv;
}

// Whether it can be started that way: the limiter prints its version.
bool works(Confined confined) {
  confined.argv.pop_back();
  confined.argv.push_back("--version");
  std::vector<char*> arguments;
  for (std::string& argument : confined.argv) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    const int nothing = ::open("/dev/null", O_RDWR);
    for (const int fd : {0, 1, 2}) ::dup2(nothing, fd);
    if (confined.user != 0 && (::setgid(confined.user) != 0 || ::setuid(confined.user) != 0)) ::_exit(1);
    char* const environment[] = {nullptr};
    ::execve(arguments[0], arguments.data(), environment);
    ::_exit(1);
  }
  int status = 1;
  return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

// From the best to what always works.
std::vector<Confined> ways(const std::string& program, const Limits& limits, Network network) {
  const Argv wrapped = in_bubblewrap(program, limits, network);
  const Argv limited{limiter, fmt::format("--nproc={0}:{0}", limits.processes), program};
  std::vector<Confined> all;
  const bool is_root = ::geteuid() == 0;
  if (is_root) all.push_back({Isolation::bubblewrap, wrapped, nobody});  // limits do not hold for root
  all.push_back({Isolation::bubblewrap, wrapped, 0});
  if (is_root) all.push_back({Isolation::user_id, limited, nobody});
  return all;
}

}  // namespace

std::string_view name(Isolation isolation) {
  switch (isolation) {
    case Isolation::bubblewrap: return "bubblewrap";
    case Isolation::user_id: return "user_id";
    case Isolation::limits: return "limits";
  }
  __builtin_unreachable();
}

Confined confine(const std::string& program, const Limits& limits, Network network) {
  std::error_code absent;
  const std::string path = fs::canonical(program, absent).string();
  if (absent) throw std::runtime_error(fmt::format("cannot run {}: {}", program, absent.message()));
  static std::map<std::tuple<std::string, Network, int>, Confined> known;
  const auto [entry, is_new] =
      known.try_emplace({path, network, limits.processes}, Confined{Isolation::limits, {path}, 0});
  if (!is_new) return entry->second;
  const char* const asked = std::getenv("JUDGE_ISOLATION");
  for (const Confined& way : ways(path, limits, network)) {
    if ((asked && name(way.isolation) != asked) || !works(way)) continue;
    entry->second = way;
    break;
  }
  return entry->second;
}

}  // namespace judge
