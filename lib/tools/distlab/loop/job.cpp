#include "distlab/loop/job.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dist/core/fail.h"

namespace distlab::loop {
namespace {

// The child gets signals like a process that a shell has started.
void set_fresh_signals(posix_spawnattr_t& attributes) {
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGPIPE}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

pid_t start(const std::vector<std::string>& argv, int output) {
  std::vector<char*> pointers;
  for (const auto& word : argv) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  set_fresh_signals(attributes);
  pid_t child = 0;
  const int error = posix_spawn(&child, pointers[0], &actions, &attributes, pointers.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) dist::fail_errno(dist::Errc::resource, error, "cannot start " + argv.front());
  return child;
}

}  // namespace

Job::Job(const std::vector<std::string>& argv) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    dist::fail_errno(dist::Errc::resource, errno, "cannot make a pipe");
  output_ = dist::UniqueFd(ends[0]);
  const dist::UniqueFd theirs(ends[1]);
  ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  group_ = start(argv, theirs.get());
}

std::vector<std::string> Job::read_lines() {
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t got = ::read(output_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0) {
      ended_ = true;
      break;
    }
    pending_.append(buffer.data(), static_cast<std::size_t>(got));
  }
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end; (end = pending_.find('\n', begin)) != pending_.npos; begin = end + 1) {
    lines.push_back(pending_.substr(begin, end - begin));
  }
  pending_.erase(0, begin);
  if (ended_ && !pending_.empty()) lines.push_back(std::exchange(pending_, {}));
  return lines;
}

int Job::exit_code() {
  while (group_ != 0) {
    if (::waitpid(group_, &status_, 0) == group_)
      group_ = 0;
    else if (errno != EINTR)
      dist::fail_errno(dist::Errc::internal, errno, "waitpid");
  }
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
}

void Job::stop() {
  if (group_ == 0) return;
  using namespace std::chrono_literals;
  ::kill(-group_, SIGTERM);
  bool is_waited_for = false;
  // Compilers and Ninja need time to remove half-written files. If no process reaps orphans, dead ones count
  // as alive, so the time is limited.
  for (int i = 0; i < 30; ++i) {
    is_waited_for = is_waited_for || ::waitpid(group_, &status_, WNOHANG) == group_;
    if (is_waited_for && ::kill(-group_, 0) != 0) break;
    std::this_thread::sleep_for(10ms);
  }
  ::kill(-group_, SIGKILL);  // processes that have ignored SIGTERM
  if (!is_waited_for) ::waitpid(group_, &status_, 0);
  group_ = 0;
  ended_ = true;
}

}  // namespace distlab::loop
