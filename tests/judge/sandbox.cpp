// How a command is confined: the words for bubblewrap (in_bubblewrap), what is visible in it (add_tools and
// add_files, or add_graded), the ways to confine from the best to the last (ways), and which of them works
// here (confine).
#include "judge/sandbox.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include "judge/child.h"
#include "judge/door.h"
#include "judge/libraries.h"
#include "judge/stage.h"
#include "judge/trouble.h"

namespace judge {
namespace fs = std::filesystem;
namespace {

using Argv = std::vector<std::string>;

constexpr const char *bubblewrap = "/usr/bin/bwrap", *door = "/door";
constexpr const char* some_user = "@user@";  // replaced by a number
constexpr uid_t nobody = 65534;

void append(Argv& argv, const Argv& more) { argv.insert(argv.end(), more.begin(), more.end()); }

// Folders on the way to `path`, outermost first.
Argv folders_to(const fs::path& path) {
  Argv folders;
  for (fs::path folder = path.parent_path(); folder != folder.root_path(); folder = folder.parent_path())
    folders.insert(folders.begin(), folder.string());
  return folders;
}

// The door's words and the command's. `user`: a number, or some_user. `counts`: whether the number of
// processes can be limited, as the user has no others.
Argv through_door(const std::string& program, const std::string& user, bool counts, const Command& command,
                  const Limits& limits) {
  const auto work_s = std::chrono::ceil<std::chrono::seconds>(limits.work).count();
  Argv argv{program,
            command.is_graded ? "rank" : "tool",
            user,
            std::to_string(counts ? limits.processes : 0),
            std::to_string(2 * work_s),
            std::to_string(limits.memory_bytes),
            std::to_string(limits.file_bytes),
            std::to_string(limits.descriptors)};
  append(argv, command.argv);
  return argv;
}

// Name spaces, and as whom the door starts in them: as root, which becomes nobody by itself, or as nobody by
// a name space of users. Limits hold for that user in both cases; they would not for root.
struct Walls {
  Argv spaces;
  const char* user;
};
const Walls by_root{
    {"--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try", "--cap-add",
     "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"},
    some_user};
const Walls by_user{{"--unshare-all", "--cap-drop", "ALL", "--uid", "65534", "--gid", "65534"}, "0"};
// The same, where no further name space of users can be made in it (bubblewrap 0.8).
const Walls by_last_user{{"--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL", "--uid",
                          "65534", "--gid", "65534"},
                         "0"};

constexpr const char* small = "16777216";  // bytes of a file system in memory

// The folders of the system that have programs, their libraries and headers, and nothing else.
constexpr const char* of_tools[] = {"/usr/bin",       "/usr/lib",          "/usr/lib32",   "/usr/lib64",
                                    "/usr/libx32",    "/usr/libexec",      "/usr/include", "/usr/local/bin",
                                    "/usr/local/lib", "/usr/local/include"};

bool is_among_tools(const std::string& path) {
  return path == "/usr" || path.starts_with("/lib") || std::ranges::any_of(of_tools, [&](const char* folder) {
           return path.starts_with(std::string(folder) + "/");
         });
}

void add_tools(Argv& argv) {
  append(argv, {"--dev", "/dev", "--perms", "1777", "--size", small, "--tmpfs", "/tmp"});
  for (const char* folder : of_tools) append(argv, {"--ro-bind-try", folder, folder});
  for (const char* folder : {"lib", "lib32", "lib64", "libx32", "bin", "sbin"}) {
    const fs::path path = fs::path("/") / folder;
    if (fs::is_symlink(path))
      append(argv, {"--symlink", fs::read_symlink(path), path});
    else if (fs::exists(path))
      append(argv, {"--ro-bind", path, path});
  }
  append(argv, {"--perms", "0755", "--dir", "/etc"});
  for (const char* file : {"/etc/ld.so.cache", "/etc/alternatives"})
    append(argv, {"--ro-bind-try", file, file});
}

void add_graded(Argv& argv, const Stage& stage, const Limits& limits) {
  append(argv, {"--ro-bind", stage.path(), "/"});
  for (const char* file : {"/dev/null", "/dev/urandom"}) append(argv, {"--dev-bind-try", file, file});
  if (limits.writes_files) append(argv, {"--perms", "1777", "--size", small, "--tmpfs", "/tmp"});
  for (const auto& file : stage.to_be_bound()) {
    for (const auto& folder : folders_to(file)) append(argv, {"--perms", "0755", "--dir", folder});
    append(argv, {"--ro-bind", file, file});
  }
}

// What a tool reads, and the folder that it writes to.
void add_files(Argv& argv, const Command& command) {
  append(argv, {"--ro-bind", JUDGE_DOOR, door});
  Argv paths;
  for (const auto& path : command.readable)
    if (!is_among_tools(path)) paths.push_back(path);
  Argv open_folders = folders_to(fs::path(command.folder) / "here");
  for (const auto& path : paths) append(open_folders, folders_to(path));
  append(open_folders, folders_to(command.writable));
  for (const auto& folder : open_folders) append(argv, {"--perms", "0755", "--dir", folder});
  for (const auto& path : paths) append(argv, {"--ro-bind-try", path, path});
  if (!command.writable.empty()) append(argv, {"--bind", command.writable, command.writable});
  append(argv, {"--remount-ro", "/", "--remount-ro", "/dev"});
}

// `stage`: of a graded command.
Argv in_bubblewrap(const Command& command, const Stage* stage, const Limits& limits, const Walls& walls) {
  Argv argv{bubblewrap};
  append(argv, walls.spaces);
  append(argv, {"--die-with-parent", "--new-session", "--hostname", "rank"});
  if (stage != nullptr) {
    add_graded(argv, *stage, limits);
  } else {
    add_tools(argv);
    add_files(argv, command);
  }
  append(argv, {"--chdir", command.folder, "--"});
  append(argv, through_door(door, walls.user, true, command, limits));
  return argv;
}

// Whether the other user may run the command: another's home is mostly closed.
bool may_use(const Command& command) {
  const auto is_open = [](const std::string& path, int how) {
    return ::access(path.c_str(), how) == 0 || errno == ENOENT;
  };
  return is_open(command.argv.front(), X_OK) &&
         std::ranges::all_of(command.readable, [&](const auto& path) { return is_open(path, R_OK); });
}

// What a fork of this process says, by its exit status.
template <class Fn>
bool in_fork(Fn fn) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(fn() ? 0 : 1);
  int status = 1;
  return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

void put_user(Confined& confined, uid_t user) {
  std::ranges::replace(confined.argv, std::string(some_user), std::to_string(user));
}

// Whether something can be started that way. A tool must be able to start something itself.
bool works(Confined confined, const Command& command) {
  put_user(confined, nobody);
  const bool is_wrapped = confined.isolation == Isolation::bubblewrap;
  confined.argv.resize(confined.argv.size() - command.argv.size());
  append(confined.argv, command.is_graded ? Argv{is_wrapped ? door : JUDGE_DOOR, "probe"}
                                          : Argv{"/usr/bin/timeout", "5", "/usr/bin/true"});
  std::vector<char*> arguments;
  for (std::string& argument : confined.argv) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  if (confined.isolation == Isolation::user_id && !in_fork([&] {
        return ::setgroups(0, nullptr) == 0 && ::setgid(nobody) == 0 && ::setuid(nobody) == 0 &&
               may_use(command);
      }))
    return false;
  return in_fork([&] {
    const int nothing = ::open("/dev/null", O_RDWR);
    for (const int fd : {0, 1, 2, report_fd}) ::dup2(nothing, fd);
    char* const environment[] = {nullptr};
    ::execve(arguments[0], arguments.data(), environment);
    return false;
  });
}

// Made once for each program, and kept until this process ends.
const Stage& stage_of(const Command& command, bool has_tmp) {
  static std::map<std::pair<std::string, bool>, Stage> known;
  return known.try_emplace({command.argv.front(), has_tmp}, command.readable, has_tmp).first->second;
}

// From the best to what always works.
std::vector<Confined> ways(const Command& command, const Stage* stage, const Limits& limits) {
  std::vector<Confined> all;
  const bool is_root = ::geteuid() == 0;
  const auto add = [&](Isolation isolation, Argv argv, const std::string& folder = {}) {
    all.push_back({.isolation = isolation, .argv = std::move(argv), .folder = folder});
  };
  if (is_root) add(Isolation::bubblewrap, in_bubblewrap(command, stage, limits, by_root));
  for (const Walls* walls : {&by_last_user, &by_user}) {
    Argv argv = in_bubblewrap(command, stage, limits, *walls);
    if (is_root) argv = through_door(JUDGE_DOOR, some_user, false, {.argv = std::move(argv)}, limits);
    add(Isolation::bubblewrap, std::move(argv));
  }
  if (is_root)
    add(Isolation::user_id, through_door(JUDGE_DOOR, some_user, true, command, limits), command.folder);
  add(Isolation::limits, through_door(JUDGE_DOOR, "0", false, command, limits), command.folder);
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

// JUDGE_ISOLATION: the only way to confine that is tried, besides limits, which are always there.
std::optional<Isolation> asked_isolation() {
  const char* const asked = std::getenv("JUDGE_ISOLATION");
  if (asked == nullptr || *asked == '\0') return std::nullopt;
  std::vector<std::string_view> known;
  for (const auto isolation : {Isolation::bubblewrap, Isolation::user_id, Isolation::limits}) {
    if (name(isolation) == asked) return isolation;
    known.push_back(name(isolation));
  }
  throw Trouble(
      fmt::format("JUDGE_ISOLATION is \"{}\"; it must be one of {}", asked, fmt::join(known, ", ")));
}

Isolation weaker(Isolation one, Isolation other) { return std::max(one, other); }

Confined confine(const Command& command, const Limits& limits) {
  static std::map<Argv, Confined> known;
  const auto asked = asked_isolation();
  const Stage* const stage = command.is_graded ? &stage_of(command, limits.writes_files) : nullptr;
  const auto [entry, is_new] = known.try_emplace(in_bubblewrap(command, stage, limits, by_user));
  Confined& confined = entry->second;
  for (const Confined& way : is_new ? ways(command, stage, limits) : std::vector<Confined>{}) {
    const bool is_last = way.isolation == Isolation::limits;
    if (!is_last && ((asked && way.isolation != *asked) || !works(way, command))) continue;
    confined = way;
    break;
  }
  Confined one = confined;
  one.group = control_group(limits);
  if (std::ranges::find(one.argv, some_user) == one.argv.end()) return one;
  one.passing_user = passing_user();
  put_user(one, one.passing_user->id());
  return one;
}

Confined confine(const std::string& program, const Limits& limits) {
  std::error_code absent;
  const std::string path = fs::canonical(program, absent).string();
  if (absent) throw Trouble(fmt::format("cannot run {}: {}", program, absent.message()));
  Command command{.argv = {path}, .readable = libraries_of(path), .folder = "/", .is_graded = true};
  const std::string cache = "/etc/ld.so.cache";
  if (fs::exists(cache)) command.readable.push_back(cache);
  command.readable.push_back(path);
  return confine(command, limits);
}

}  // namespace judge
