#include "judge/child.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "judge/frame.h"
#include "judge/sandbox.h"

namespace judge {
namespace {

[[noreturn]] void refused(const char* what) {
  throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
}

void limit(int resource, rlim_t value) {
  const rlimit both{value, value};
  ::setrlimit(static_cast<__rlimit_resource>(resource), &both);
}

// Descriptors of the new process, at places that do not clash with 0 to 4.
struct Ends {
  int input, output, channel, line;  // the last: -1 for none
};

// Runs between vfork and exec, in the memory of a program that has threads: system calls only, and none of
// those that the C library makes for all threads.
[[noreturn]] void become(char* const* arguments, const Confined& confined, const Ends& ends,
                         const Limits& limits) {
  const uid_t user = confined.user;
  ::setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  limit_this_process(confined, limits);
  ::dup2(ends.input, STDIN_FILENO);
  ::dup2(ends.output, STDOUT_FILENO);
  ::dup2(ends.output, STDERR_FILENO);
  ::dup2(ends.channel, channel_fd);
  if (ends.line >= 0) ::dup2(ends.line, line_fd);
  ::close_range(ends.line >= 0 ? line_fd + 1 : line_fd, ~0U, 0);
  if (user != 0 && (::syscall(SYS_setgroups, 0, nullptr) != 0 || ::syscall(SYS_setgid, user) != 0 ||
                    ::syscall(SYS_setuid, user) != 0))
    ::_exit(127);
  if (!confined.folder.empty() && ::chdir(confined.folder.c_str()) != 0) ::_exit(127);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a change of user forgets it
  char locale[] = "LC_ALL=C.UTF-8", path[] = "PATH=/usr/bin:/bin";
  char* const environment[] = {locale, path, nullptr};
  ::execve(arguments[0], arguments, environment);
  ::_exit(127);
}

// A duplicate above the descriptors that become() overwrites.
dist::UniqueFd out_of_the_way(int fd) {
  dist::UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, line_fd + 1));
  if (!copy) refused("cannot duplicate a descriptor");
  return copy;
}

}  // namespace

void limit_this_process(const Confined& confined, const Limits& limits) {
  // Whoever looks at it stops it sooner; this holds where nobody does.
  limit(RLIMIT_CPU, 2 * static_cast<rlim_t>(std::chrono::ceil<std::chrono::seconds>(limits.work).count()));
  limit(RLIMIT_AS, limits.memory_bytes);
  limit(RLIMIT_FSIZE, limits.file_bytes);
  limit(RLIMIT_CORE, 0);
  if (confined.counts_processes) limit(RLIMIT_NPROC, static_cast<rlim_t>(limits.processes));
}

std::pair<dist::UniqueFd, dist::UniqueFd> socket_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) refused("no socket pair");
  return {dist::UniqueFd(ends[0]), dist::UniqueFd(ends[1])};
}

Child::Child(const Confined& confined, const Limits& limits, dist::UniqueFd line)
    : isolation_(confined.isolation), passing_user_(confined.passing_user) {
  std::array<int, 2> pipe{};
  auto [channel, their_channel] = socket_pair();
  channel_ = std::move(channel);
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) refused("no pipe");
  output_ = dist::UniqueFd(pipe[0]);
  const dist::UniqueFd their_output(pipe[1]);
  ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  std::vector<char*> arguments;
  for (const std::string& argument : confined.argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const dist::UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));

  const auto input_end = out_of_the_way(nothing.get());
  const auto output_end = out_of_the_way(their_output.get());
  const auto channel_end = out_of_the_way(their_channel.get());
  const auto line_end = line ? out_of_the_way(line.get()) : dist::UniqueFd();
  pid_ = ::vfork();  // no copy of what this program has mapped: that would take longer than all else here
  if (pid_ < 0) refused("no new process");
  if (pid_ == 0)
    become(arguments.data(), confined, {input_end.get(), output_end.get(), channel_end.get(), line_end.get()},
           limits);
  ::setpgid(pid_, pid_);  // the child does it too: whoever comes first
  pidfd_ = dist::UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (!pidfd_) {
    end();
    refused("cannot watch a process");
  }
}

Child::~Child() { end(); }

int Child::end() {
  if (pid_ < 0) return status_;
  // The group lives as long as its leader is not collected, so its number cannot mean somebody else yet. A
  // leader that has ended already keeps its exit status.
  ::kill(-pid_, SIGKILL);
  while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  // What has left the group and the session, too. In name spaces of its own nothing outlives their first
  // process.
  if (passing_user_ && isolation_ == Isolation::user_id) clean_up_after(*passing_user_);
  return status_;
}

}  // namespace judge
