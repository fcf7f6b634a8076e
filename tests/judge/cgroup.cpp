// Control groups, as the kernel's documentation (cgroup-v2) has them: who passes controllers on
// (why_no_limits_below), where groups are made (find_parent), what limits one (limit_group), how it ends
// (end_all_in, ~ControlGroup).
#include "judge/cgroup.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "judge/child.h"
#include "judge/trouble.h"

namespace judge {
namespace {

using namespace std::chrono_literals;

// False, with errno, when there is no such file, or the kernel refuses.
bool put(const std::string& file, std::string_view text) {
  const dist::UniqueFd opened(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return opened && ::write(opened.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Whether a file of controllers names both.
bool has_both(const std::string& file) {
  std::ifstream names(file);
  std::set<std::string> all;
  for (std::string name; names >> name;) all.insert(name);
  return all.contains("memory") && all.contains("pids");
}

// The folder of the control group that this process is in. Where version 2 is not the only hierarchy, it is
// not a folder of version 2.
std::string own_group() {
  std::ifstream file("/proc/self/cgroup");
  constexpr std::string_view start = "0::";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(start)) return "/sys/fs/cgroup" + line.substr(start.size());
  }
  return "/sys/fs/cgroup";
}

// That needs rights on more than the folder: on the group above both, that of this process and the new one.
bool can_be_entered(const std::string& parent) {
  try {
    const ControlGroup group(parent);
    const pid_t child = ::fork();
    if (child == 0) ::_exit(::write(group.entrance(), "0", 1) == 1 ? 0 : 1);
    int status = 1;
    return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
  } catch (const Trouble&) {
    return false;
  }
}

std::string why_not_in(const std::string& parent) {
  struct statfs about {};
  if (::statfs(parent.c_str(), &about) != 0 || about.f_type != CGROUP2_SUPER_MAGIC)
    return parent + " is not the folder of a control group of version 2";
  if (auto why = why_no_limits_below(parent); !why.empty()) return why;
  if (can_be_entered(parent)) return "";
  return fmt::format(
      "this process may not enter a group in {0}: start it in a group beside {0}, below one whose "
      "cgroup.procs its "
      "user may write",
      parent);
}

// Where groups are made; empty: nowhere.
std::string find_parent() {
  const char* const variable = std::getenv("JUDGE_CGROUP");
  const std::string named = variable != nullptr ? variable : "", parent = named.empty() ? own_group() : named;
  const std::string why = why_not_in(parent);
  if (why.empty()) return parent;
  if (named.empty()) return "";
  throw Trouble("no limits by JUDGE_CGROUP: " + why);
}

}  // namespace

std::string why_no_limits_below(const std::string& folder) {
  const std::string passed_on = folder + "/cgroup.subtree_control";
  if (has_both(passed_on)) return "";
  if (!has_both(folder + "/cgroup.controllers"))
    return fmt::format(
        "{0} has no controllers of memory and pids: write \"+memory +pids\" to {0}/../cgroup.subtree_control",
        folder);
  const bool is_taken = put(passed_on, "+memory +pids");
  const int why = is_taken ? 0 : errno;
  if (is_taken && has_both(passed_on)) return "";
  if (why == EBUSY)
    return fmt::format(
        "{} has processes of its own, so it passes no controllers on: make a group in it and name that one",
        folder);
  return fmt::format("cannot write \"+memory +pids\" to {}: {}", passed_on, std::strerror(why));
}

ControlGroup::ControlGroup(const std::string& parent) {
  folder_ = parent + "/distlab-XXXXXX";
  if (::mkdtemp(folder_.data()) == nullptr)
    throw Trouble(fmt::format("no control group in {}: {}", parent, std::strerror(errno)));
  entrance_ = dist::UniqueFd(::open((folder_ + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  if (entrance_) return;
  const int why = errno;
  ::rmdir(folder_.c_str());
  throw Trouble(fmt::format("cannot open {}/cgroup.procs: {}", folder_, std::strerror(why)));
}

// A process that was killed stays in the group until it has given back its memory, which takes its time on a
// busy machine. One that a disk holds up in the kernel may take longer than this: then the folder stays.
ControlGroup::~ControlGroup() {
  const auto until = std::chrono::steady_clock::now() + 30s;
  do {
    end_all_in(folder_);
    if (::rmdir(folder_.c_str()) == 0 || errno != EBUSY) return;
    std::this_thread::sleep_for(1ms);
  } while (std::chrono::steady_clock::now() < until);
}

bool limit_group(const std::string& folder, const Limits& limits) {
  constexpr int helpers = 4;  // of the sandbox: two of bubblewrap, two doors
  // What the kernel keeps for them counts, too: tables of pages, sockets, pipes, the files that they run.
  constexpr std::size_t kernels = 64 << 20;
  const bool is_limited = put(folder + "/memory.max", std::to_string(limits.memory_bytes + kernels)) &&
                          put(folder + "/pids.max", std::to_string(limits.processes + helpers));
  put(folder + "/memory.swap.max", "0");   // where the kernel counts swap
  put(folder + "/memory.oom.group", "1");  // all of it ends, or nothing: since Linux 4.19
  return is_limited;
}

void end_all_in(const std::string& folder) {
  if (put(folder + "/cgroup.kill", "1")) return;  // since Linux 5.14
  put(folder + "/pids.max", "0");                 // from now on they start nothing
  std::ifstream processes(folder + "/cgroup.procs");
  for (pid_t process = 0; processes >> process;) {
    if (process > 0) ::kill(process, SIGKILL);  // 0: it is in a name space that we do not see into
  }
}

std::shared_ptr<ControlGroup> control_group(const Limits& limits) {
  static const std::string parent = find_parent();
  if (parent.empty()) return nullptr;
  auto group = std::make_shared<ControlGroup>(parent);
  if (!limit_group(group->folder(), limits))
    throw Trouble(fmt::format("cannot set the limits of {}: {}", group->folder(), std::strerror(errno)));
  return group;
}

}  // namespace judge
