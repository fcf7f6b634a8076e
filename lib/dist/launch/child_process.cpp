// ChildProcess: fork a rank, hear its report through a pipe and its end through a pidfd, kill and reap it.
// The child dies with the thread that forked it.
#include "dist/launch/child_process.h"

#include <cerrno>
#include <cstdio>
#include <iostream>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dist/core/fail.h"

namespace dist {
namespace {

constexpr std::size_t longest_report = 32 << 10;  // a pipe holds more

void flush_streams() {
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);
}

}  // namespace

ChildProcess::ChildProcess(const std::function<int(int)>& body) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0) fail_errno(Errc::resource, errno, "spawn: no pipe for a rank");
  report_ = UniqueFd(fds[0]);
  UniqueFd told(fds[1]);
  flush_streams();  // otherwise the child would print it again
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) fail_errno(Errc::resource, errno, "spawn: no further process");
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // the parent died before the line above
    report_.reset();
    const int code = body(told.get());
    flush_streams();
    _exit(code);
  }
  end_ = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
}

ChildProcess::~ChildProcess() {
  if (pid_ <= 0 || reaped_) return;
  kill();
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void ChildProcess::abandon() {
  pid_ = -1;
  report_.reset();
  end_.reset();
}

void ChildProcess::kill() {
  if (pid_ > 0 && !reaped_) ::kill(pid_, SIGKILL);
}

bool ChildProcess::reap() {
  if (reaped_ || pid_ <= 0) return reaped_;
  const pid_t ended = waitpid(pid_, &status_, WNOHANG);
  // ECHILD: the program ignores SIGCHLD, and the system has reaped the child.
  reaped_ = ended == pid_ || (ended < 0 && errno == ECHILD);
  return reaped_;
}

// A report is "<Errc as a number> <text>\0".
std::optional<RankResult> ChildProcess::read_report() {
  char piece[4096];
  while (report_) {
    const ssize_t n = read(report_.get(), piece, sizeof piece);
    if (n > 0) heard_.append(piece, static_cast<std::size_t>(n));
    if (n == 0) report_.reset();
    if (n < 0 && errno != EINTR) break;
  }
  const auto end = heard_.find('\0');
  if (end == std::string::npos) return std::nullopt;
  const auto space = heard_.find(' ');
  RankResult result{true, static_cast<Errc>(std::stoi(heard_)), heard_.substr(space + 1, end - space - 1)};
  heard_.clear();
  return result;
}

void send_report(int report_fd, const RankResult& result) {
  std::string line =
      fmt::format("{} {}", static_cast<int>(result.code), result.text.substr(0, longest_report));
  line.push_back('\0');
  [[maybe_unused]] const ssize_t n = write(report_fd, line.data(), line.size());
}

}  // namespace dist
