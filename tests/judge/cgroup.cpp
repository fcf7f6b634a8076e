#include "judge/cgroup.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
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

// False when there is no such file, or the kernel refuses.
bool put(const std::string& file, std::string_view text) {
  const dist::UniqueFd opened(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return opened && ::write(opened.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool has_controllers(const std::string& folder) {
  std::ifstream file(folder + "/cgroup.subtree_control");
  bool memory = false, pids = false;
  for (std::string name; file >> name;) {
    memory = memory || name == "memory";
    pids = pids || name == "pids";
  }
  return memory && pids;
}

// The folder of the control group that this process is in, where version 2 is the only hierarchy.
std::string own_group() {
  std::ifstream file("/proc/self/cgroup");
  constexpr std::string_view start = "0::";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(start)) return "/sys/fs/cgroup" + line.substr(start.size());
  }
  return "/sys/fs/cgroup";
}

// Whether a process can go there: that needs rights on more than the folder.
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

// Where groups can be made, if anywhere.
std::optional<std::string> find_parent() {
  const char* const named = std::getenv("JUDGE_CGROUP");
  const std::string parent = named != nullptr ? named : own_group();
  struct statfs about {};
  if (::statfs(parent.c_str(), &about) != 0 || about.f_type != CGROUP2_SUPER_MAGIC) return std::nullopt;
  if (!has_controllers(parent)) put(parent + "/cgroup.subtree_control", "+memory +pids");
  if (!has_controllers(parent) || !can_be_entered(parent)) return std::nullopt;
  return parent;
}

}  // namespace

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

ControlGroup::~ControlGroup() {
  put(folder_ + "/cgroup.kill", "1");
  // A process that is ending is in the group until it has ended.
  for (int tries = 0; tries < 1000 && ::rmdir(folder_.c_str()) != 0 && errno == EBUSY; ++tries)
    std::this_thread::sleep_for(1ms);
}

bool limit_group(const std::string& folder, const Limits& limits) {
  constexpr int helpers = 4;  // of the sandbox: two of bubblewrap, two doors
  const bool is_limited = put(folder + "/memory.max", std::to_string(limits.memory_bytes)) &&
                          put(folder + "/pids.max", std::to_string(limits.processes + helpers));
  put(folder + "/memory.swap.max", "0");  // where the kernel counts swap
  return is_limited;
}

std::shared_ptr<ControlGroup> control_group(const Limits& limits) {
  static const std::optional<std::string> parent = find_parent();
  if (!parent) return nullptr;
  auto group = std::make_shared<ControlGroup>(*parent);
  return limit_group(group->folder(), limits) ? group : nullptr;
}

}  // namespace judge
