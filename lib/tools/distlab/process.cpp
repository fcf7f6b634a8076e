#include "distlab/process.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/core/handles.h"

namespace distlab {
namespace {

constexpr int signalled = 128;  // what a shell adds to the number of the signal that ended a program

// While this object exists, signals that would end this process go to the child first, so that this process
// can clean up afterwards. A terminal's Ctrl-C has reached the child, too: passed on, it would seem to be a
// second one. A second signal kills the child.
class Forwarding {
 public:
  Forwarding() {
    child_ = noted_ = 0;
    struct sigaction forward {};
    forward.sa_sigaction = &Forwarding::on_signal;
    forward.sa_flags = SA_SIGINFO;
    for (std::size_t i = 0; i < signals.size(); ++i) {
      ::sigaction(signals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_DFL) ::sigaction(signals[i], &forward, nullptr);
    }
  }
  ~Forwarding() {
    for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before_[i], nullptr);
  }
  Forwarding(const Forwarding&) = delete;
  Forwarding& operator=(const Forwarding&) = delete;

  void to(pid_t child) {
    child_ = child;
    if (const int early = noted_; early != 0) ::kill(child, early);
  }
  // Call it when the child has been reaped.
  void end() {
    child_ = 0;
    if (const int signal = noted_; signal != 0) throw Interrupted{signal};
  }

 private:
  static constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};
  static void on_signal(int signal, siginfo_t* info, void*) {
    const bool is_second = noted_.exchange(signal) != 0, is_terminals = info->si_code == SI_KERNEL;
    const pid_t child = child_;
    if (child != 0 && is_second) ::kill(child, SIGKILL);
    if (child != 0 && !is_second && !is_terminals) ::kill(child, signal);
  }
  static inline std::atomic<pid_t> child_;
  static inline std::atomic<int> noted_;
  std::array<struct sigaction, signals.size()> before_{};
};

// Starts argv with its output on `out` and without input, or, if `out` is -1, with our own input and output.
// Returns 0 when it cannot be started.
pid_t start(const std::vector<std::string>& argv, int out) {
  std::vector<char*> pointers;
  for (const auto& word : argv) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (out >= 0) {
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
  }
  pid_t child = 0;
  const int error = posix_spawnp(&child, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? child : 0;
}

int wait_for(pid_t child, Forwarding& forwarding) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) dist::fail_errno(dist::Errc::internal, errno, "waitpid");
  }
  forwarding.end();
  return WIFEXITED(status) ? WEXITSTATUS(status) : signalled + WTERMSIG(status);
}

template <class OnBytes>
int run(const std::vector<std::string>& argv, OnBytes&& on_bytes) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) dist::fail_errno(dist::Errc::resource, errno, "cannot make a pipe");
  const dist::UniqueFd in(ends[0]);
  dist::UniqueFd out(ends[1]);
  Forwarding forwarding;
  const pid_t child = start(argv, out.get());
  out.reset();
  if (child == 0) return 127;
  forwarding.to(child);
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t got = read(in.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    on_bytes(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
  }
  return wait_for(child, forwarding);
}

}  // namespace

ProcessResult run_captured(const std::vector<std::string>& argv) {
  ProcessResult result;
  result.exit_code = run(argv, [&](std::string_view bytes) { result.output += bytes; });
  return result;
}

ProcessResult run_streamed(const std::vector<std::string>& argv, const LineSink& sink) {
  std::string pending;
  const int exit_code = run(argv, [&](std::string_view bytes) {
    pending += bytes;
    std::size_t begin = 0;
    for (std::size_t end; (end = pending.find('\n', begin)) != std::string::npos; begin = end + 1) {
      sink(std::string_view(pending).substr(begin, end - begin));
    }
    pending.erase(0, begin);
  });
  if (!pending.empty()) sink(pending);
  return {exit_code, {}};
}

int run_in_foreground(const std::vector<std::string>& argv) {
  std::fflush(nullptr);
  Forwarding forwarding;
  const pid_t child = start(argv, -1);
  if (child == 0) return 127;
  forwarding.to(child);
  const int exit_code = wait_for(child, forwarding);
  if (exit_code == signalled + SIGPIPE) throw Interrupted{SIGPIPE};
  return exit_code;
}

std::string ended_by_signal(int exit_code) {
  const int number = exit_code - signalled;
  return number > 0 ? fmt::format("was ended by signal {} ({})", number, strsignal(number)) : "";
}

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string candidate = folder + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

}  // namespace distlab
