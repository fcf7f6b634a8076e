#include "judge/sandbox.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>

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

// Folders on the way to `path`, outermost first.
Argv folders_to(const fs::path& path) {
  Argv folders;
  for (fs::path folder = path.parent_path(); folder != folder.root_path(); folder = folder.parent_path())
    folders.insert(folders.begin(), folder.string());
  return folders;
}

// Name spaces, and how the process becomes nobody in them: by root itself, inside, or by a user name space.
// Limits hold for nobody in both cases; they would not for root.
struct Walls {
  Argv spaces, inside;
  bool has_user_to_itself;  // outside, too, where the number of processes can be limited then
};
constexpr const char *reuid = "--reuid=65534", *regid = "--regid=65534";  // replaced by a passing user's
const Walls by_root{{"--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--cap-add",
                     "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"},
                    {"/usr/bin/setpriv", reuid, regid, "--clear-groups", "--inh-caps=-all",
                     "--bounding-set=-all", "--no-new-privs"},
                    true};
const Walls by_user{{"--unshare-all", "--cap-drop", "ALL", "--uid", "65534", "--gid", "65534"}, {}, false};

Argv in_bubblewrap(const Command& command, const Limits& limits, const Walls& walls) {
  Argv argv{bubblewrap};
  const auto add = [&](const Argv& more) { argv.insert(argv.end(), more.begin(), more.end()); };
  add(walls.spaces);
  add({"--die-with-parent", "--new-session", "--hostname", "rank", "--proc", "/proc", "--dev", "/dev"});
  add({"--perms", "1777", "--size", "16777216", "--tmpfs", "/tmp", "--ro-bind", "/usr", "/usr"});
  for (const char* folder : {"lib", "lib64", "bin", "sbin"}) {
    const fs::path path = fs::path("/") / folder;
    if (fs::is_symlink(path))
      add({"--symlink", fs::read_symlink(path), path});
    else if (fs::exists(path))
      add({"--ro-bind", path, path});
  }
  add({"--perms", "0755", "--dir", "/etc"});
  for (const char* file : {"/etc/ld.so.cache", "/etc/alternatives"}) add({"--ro-bind-try", file, file});
  Argv paths;  // the others are there already
  std::ranges::copy_if(command.readable, std::back_inserter(paths),
                       [](const std::string& path) { return path != "/usr" && !path.starts_with("/usr/"); });
  Argv open_folders = folders_to(fs::path(command.folder) / "here");
  for (const auto& path : paths) std::ranges::copy(folders_to(path), std::back_inserter(open_folders));
  std::ranges::copy(folders_to(command.writable), std::back_inserter(open_folders));
  for (const auto& folder : open_folders) add({"--perms", "0755", "--dir", folder});
  for (const auto& path : paths) add({"--ro-bind-try", path, path});
  if (!command.writable.empty()) add({"--bind", command.writable, command.writable});
  add({"--chdir", command.folder, "--"});
  add(walls.inside);
  if (!walls.has_user_to_itself) add({limiter, fmt::format("--nproc={0}:{0}", limits.processes)});
  add(command.argv);
  return argv;
}

// Whether this process's user may run the command: another's home is mostly closed.
bool may_use(const Command& command) {
  const auto is_open = [](const std::string& path, int how) {
    return ::access(path.c_str(), how) == 0 || errno == ENOENT;
  };
  return is_open(command.argv.front(), X_OK) &&
         std::ranges::all_of(command.readable, [&](const auto& path) { return is_open(path, R_OK); });
}

// Whether something can be started that way, and can start something itself.
bool works(Confined confined, const Command& command, const Limits& limits) {
  confined.argv.resize(confined.argv.size() - command.argv.size());
  confined.argv.insert(confined.argv.end(), {"/usr/bin/timeout", "5", "/usr/bin/true"});
  std::vector<char*> arguments;
  for (std::string& argument : confined.argv) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    const int nothing = ::open("/dev/null", O_RDWR);
    for (const int fd : {0, 1, 2}) ::dup2(nothing, fd);
    limit_this_process(confined, limits);
    if (confined.user != 0 && (::setgid(confined.user) != 0 || ::setuid(confined.user) != 0)) ::_exit(1);
    if (confined.isolation == Isolation::user_id && !may_use(command)) ::_exit(1);
    char* const environment[] = {nullptr};
    ::execve(arguments[0], arguments.data(), environment);
    ::_exit(1);
  }
  int status = 1;
  return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

// From the best to what always works.
std::vector<Confined> ways(const Command& command, const Limits& limits) {
  const Argv wrapped = in_bubblewrap(command, limits, by_user);
  std::vector<Confined> all;
  const bool is_root = ::geteuid() == 0;
  if (is_root)
    all.push_back({.isolation = Isolation::bubblewrap,
                   .argv = in_bubblewrap(command, limits, by_root),
                   .counts_processes = true});
  all.push_back({.isolation = Isolation::bubblewrap, .argv = wrapped, .user = is_root ? nobody : 0});
  if (is_root)
    all.push_back({.isolation = Isolation::user_id,
                   .argv = command.argv,
                   .user = nobody,
                   .folder = command.folder,
                   .counts_processes = true});
  all.push_back({.isolation = Isolation::limits, .argv = command.argv, .folder = command.folder});
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

Isolation weaker(Isolation one, Isolation other) { return std::max(one, other); }

Confined confine(const Command& command, const Limits& limits) {
  static std::map<Argv, Confined> known;
  const auto [entry, is_new] = known.try_emplace(in_bubblewrap(command, limits, by_user));
  Confined& confined = entry->second;
  const char* const asked = std::getenv("JUDGE_ISOLATION");
  for (const Confined& way : is_new ? ways(command, limits) : std::vector<Confined>{}) {
    const bool is_last = way.isolation == Isolation::limits;
    if (!is_last && ((asked && name(way.isolation) != asked) || !works(way, command, limits))) continue;
    confined = way;
    break;
  }
  Confined one = confined;
  const auto as_user = std::ranges::find(one.argv, reuid);
  if (as_user == one.argv.end() && one.isolation != Isolation::user_id) return one;
  one.passing_user = passing_user();
  const auto id = one.passing_user->id();
  if (one.isolation == Isolation::user_id) one.user = id;
  std::ranges::replace(one.argv, std::string(reuid), fmt::format("--reuid={}", id));
  std::ranges::replace(one.argv, std::string(regid), fmt::format("--regid={}", id));
  return one;
}

Confined confine(const std::string& program, const Limits& limits) {
  std::error_code absent;
  const std::string path = fs::canonical(program, absent).string();
  if (absent) throw std::runtime_error(fmt::format("cannot run {}: {}", program, absent.message()));
  const auto libraries = own_libraries();
  Command command{.argv = {path}, .readable = {libraries.begin(), libraries.end()}};
  command.readable.push_back(path);
  return confine(command, limits);
}

}  // namespace judge
