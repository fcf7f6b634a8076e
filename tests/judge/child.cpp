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
  int input, output, channel, simulation;  // the last: -1 for none
};

// Runs between fork and exec, in a copy of a program that has threads: system calls only.
[[noreturn]] void become(char* const* arguments, uid_t user, const Ends& ends, const Limits& limits) {
  ::setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, limits.cpu_seconds);
  ::dup2(ends.input, STDIN_FILENO);
  ::dup2(ends.output, STDOUT_FILENO);
  ::dup2(ends.output, STDERR_FILENO);
  ::dup2(ends.channel, channel_fd);
  if (ends.simulation >= 0) ::dup2(ends.simulation, simulation_fd);
  ::close_range(ends.simulation >= 0 ? simulation_fd + 1 : simulation_fd, ~0U, 0);
  if (user != 0 && (::setgroups(0, nullptr) != 0 || ::setgid(user) != 0 || ::setuid(user) != 0)) ::_exit(127);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a change of user forgets it
  char locale[] = "LC_ALL=C.UTF-8", path[] = "PATH=/usr/bin:/bin";
  char* const environment[] = {locale, path, nullptr};
  ::execve(arguments[0], arguments, environment);
  ::_exit(127);
}

// A duplicate above the descriptors that become() overwrites.
dist::UniqueFd out_of_the_way(int fd) {
  dist::UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, simulation_fd + 1));
  if (!copy) refused("cannot duplicate a descriptor");
  return copy;
}

// The judge's end and the process's.
std::pair<dist::UniqueFd, dist::UniqueFd> socket_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) refused("no socket pair");
  return {dist::UniqueFd(ends[0]), dist::UniqueFd(ends[1])};
}

}  // namespace

Child::Child(const std::string& program, const Limits& limits, Network network) {
  if (::access(program.c_str(), X_OK) != 0)
    throw std::runtime_error(fmt::format("cannot run {}: {}", program, std::strerror(errno)));
  std::array<int, 2> pipe{};
  auto [channel, their_channel] = socket_pair();
  channel_ = std::move(channel);
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) refused("no pipe");
  output_ = dist::UniqueFd(pipe[0]);
  const dist::UniqueFd their_output(pipe[1]);
  ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  Confined confined = confine(program, limits, network);
  std::vector<char*> arguments;
  for (std::string& argument : confined.argv) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  const dist::UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));

  const auto input_end = out_of_the_way(nothing.get());
  const auto output_end = out_of_the_way(their_output.get());
  const auto channel_end = out_of_the_way(their_channel.get());
  dist::UniqueFd simulation_end;
  if (network == Network::judge) {
    auto [simulation, their_simulation] = socket_pair();
    simulation_ = std::move(simulation);
    simulation_end = out_of_the_way(their_simulation.get());
  }
  pid_ = ::fork();
  if (pid_ < 0) refused("no new process");
  if (pid_ == 0)
    become(arguments.data(), confined.user,
           {input_end.get(), output_end.get(), channel_end.get(), simulation_end.get()}, limits);
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
  return status_;
}

}  // namespace judge
