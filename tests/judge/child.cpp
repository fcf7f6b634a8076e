#include "judge/child.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "judge/door.h"
#include "judge/frame.h"
#include "judge/sandbox.h"
#include "judge/trouble.h"

namespace judge {
namespace {

[[noreturn]] void refused(const char* what) {
  throw Trouble(fmt::format("{}: {}", what, std::strerror(errno)));
}

// Descriptors of the new process, at places that do not clash with 0 to 5.
struct Ends {
  int input, output, channel, line, report, group;  // line, group: -1 for none
};

// Runs between vfork and exec, in the memory of a program that has threads: system calls only, and none of
// those that the C library makes for all threads. Where it cannot, it leaves the reason in `why`.
[[noreturn]] void become(char* const* arguments, const char* folder, const Ends& ends, volatile int& why) {
  if (ends.group >= 0 && ::write(ends.group, "0", 1) != 1) {
    why = errno;
    ::_exit(127);
  }
  ::setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(ends.input, STDIN_FILENO);
  ::dup2(ends.output, STDOUT_FILENO);
  ::dup2(ends.output, STDERR_FILENO);
  ::dup2(ends.channel, channel_fd);
  ends.line >= 0 ? ::dup2(ends.line, line_fd) : ::close_range(line_fd, line_fd, 0);
  ::dup2(ends.report, report_fd);
  ::close_range(report_fd + 1, ~0U, 0);
  if (folder[0] != '\0' && ::chdir(folder) != 0) {
    why = errno;
    ::_exit(127);
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  char locale[] = "LC_ALL=C.UTF-8", path[] = "PATH=/usr/bin:/bin", memory[] = "DIST_MEMORY_FD=6";
  static_assert(memory_fd == 6);
  char* const environment[] = {locale, path, memory, nullptr};
  ::execve(arguments[0], arguments, environment);
  why = errno;
  ::_exit(127);
}

// A duplicate above the descriptors that become() overwrites.
dist::UniqueFd out_of_the_way(int fd) {
  dist::UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, report_fd + 1));
  if (!copy) refused("cannot duplicate a descriptor");
  return copy;
}

// The end to read from, which does not block, and the one to write to.
std::pair<dist::UniqueFd, dist::UniqueFd> pipe_to_read() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) refused("no pipe");
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return {dist::UniqueFd(ends[0]), dist::UniqueFd(ends[1])};
}

}  // namespace

std::pair<dist::UniqueFd, dist::UniqueFd> socket_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) refused("no socket pair");
  return {dist::UniqueFd(ends[0]), dist::UniqueFd(ends[1])};
}

Child::Child(const Confined& confined, dist::UniqueFd line)
    : isolation_(confined.isolation), passing_user_(confined.passing_user), group_(confined.group) {
  auto [channel, their_channel] = socket_pair();
  auto [output, their_output] = pipe_to_read();
  auto [report, their_report] = pipe_to_read();
  channel_ = std::move(channel);
  output_ = std::move(output);
  report_ = std::move(report);
  std::vector<char*> arguments;
  for (const std::string& argument : confined.argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const dist::UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));

  const auto input_end = out_of_the_way(nothing.get());
  const auto output_end = out_of_the_way(their_output.get());
  const auto channel_end = out_of_the_way(their_channel.get());
  const auto report_end = out_of_the_way(their_report.get());
  const auto line_end = line ? out_of_the_way(line.get()) : dist::UniqueFd();
  volatile int why = 0;
  pid_ = ::vfork();  // no copy of what this program has mapped: that would take longer than all else here
  if (pid_ < 0) refused("no new process");
  if (pid_ == 0)
    become(arguments.data(), confined.folder.c_str(),
           {input_end.get(), output_end.get(), channel_end.get(), line_end.get(), report_end.get(),
            group_ ? group_->entrance() : -1},
           why);
  if (why != 0) {  // no fault of the command
    end();
    throw Trouble(fmt::format("cannot start {}: {}", confined.argv[0], std::strerror(why)));
  }
  ::setpgid(pid_, pid_);  // the child calls it, too: one of the two is first
  pidfd_ = dist::UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (!pidfd_) {
    end();
    refused("cannot watch a process");
  }
}

Child::~Child() { end(); }

void Child::kill() {
  if (pid_ >= 0) ::kill(-pid_, SIGKILL);
}

int Child::end() {
  if (pid_ < 0) return status_;
  // The group lives as long as its leader is not collected, so its number cannot mean another group yet. A
  // leader that has ended already keeps its exit status.
  ::kill(-pid_, SIGKILL);
  while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  DoorReport report;
  if (::read(report_.get(), &report, sizeof report) == sizeof report) {
    status_ = report.status;
    peak_memory_bytes_ = static_cast<std::size_t>(std::max(report.peak_kib, 0L)) << 10;
  }
  // Also ends what has left the group and the session: in name spaces of their own no process outlives the
  // first one.
  if (passing_user_ && isolation_ == Isolation::user_id) clean_up_after(*passing_user_);
  group_.reset();
  return status_;
}

}  // namespace judge
