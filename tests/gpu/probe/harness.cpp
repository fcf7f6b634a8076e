#include "harness.h"

#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace probe {
namespace {

// The child ends when its parent does; `parent` closes the race with a parent that is gone already.
void die_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
}

void sleep_ms(int ms) { poll(nullptr, 0, ms); }

[[noreturn]] void probe_main(const Probe& probe, int fd) {
  const Report report(fd);
  try {
    probe.run(report);
  } catch (const Skipped& why) {
    report.line('S', why.what());
  } catch (const std::exception& why) {
    report.line('E', why.what());
  }
  _exit(0);
}

void read_line(const std::string& line, Row& row) {
  if (line.size() < 2) return;
  const std::string rest = line.substr(2);
  switch (line[0]) {
    case 'V': {
      const auto first = rest.find('\t'), second = rest.find('\t', first + 1);
      row.values.push_back(
          {rest.substr(0, first), std::atof(rest.c_str() + first + 1), rest.substr(second + 1)});
      break;
    }
    case 'S': row.status = Status::skipped, row.notes.push_back(rest); break;
    case 'E': row.status = Status::refused, row.notes.push_back(rest); break;
    default: row.notes.push_back(rest); break;
  }
}

// Reads what there is, without waiting.
void drain(int fd, std::string& buffer, Row& row) {
  char chunk[4096];
  for (;;) {
    const ssize_t n = read(fd, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    buffer.append(chunk, static_cast<std::size_t>(n));
    for (std::size_t end; (end = buffer.find('\n')) != std::string::npos; buffer.erase(0, end + 1)) {
      read_line(buffer.substr(0, end), row);
    }
  }
}

// Kills the probe's process group and reaps all of it; this process is the reaper of orphans.
void end_group(pid_t group) {
  kill(-group, SIGKILL);
  for (const double limit = now_us() + 10e6; now_us() < limit; sleep_ms(5)) {
    pid_t pid;
    while ((pid = waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (pid < 0 && errno == ECHILD) return;
  }
  std::fprintf(stderr, "probe: processes of group %d do not end 10 s after SIGKILL (stuck in the driver?)\n",
               group);
}

}  // namespace

std::string text(const char* format, ...) {
  va_list args;
  va_start(args, format);
  char buffer[2048];
  vsnprintf(buffer, sizeof buffer, format, args);
  va_end(args);
  return buffer;
}

const char* name(Status status) {
  switch (status) {
    case Status::works: return "works";
    case Status::refused: return "refused";
    case Status::skipped: return "skipped";
    case Status::hung: return "hung";
    case Status::crashed: return "crashed";
  }
  return "?";
}

double now_us() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double, std::micro>(Clock::now().time_since_epoch()).count();
}

void Report::line(char kind, const std::string& what) const {
  std::string line = std::string(1, kind) + ' ' + what.substr(0, 3000);  // below PIPE_BUF: lines do not mix
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  line += '\n';
  if (write(fd_, line.data(), line.size()) < 0) _exit(1);  // no one listens any more
}

void Report::value(const std::string& name, double number, const std::string& unit) const {
  line('V', text("%s\t%.6g\t%s", name.c_str(), number, unit.c_str()));
}

Row run_isolated(const Probe& probe) {
  Row row;
  row.probe = probe.name;
  row.question = probe.question;
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) throw Refused(text("pipe: %s", strerror(errno)));
  std::fflush(nullptr);
  const double start = now_us();
  const pid_t self = getpid(), pid = fork();
  if (pid < 0) throw Refused(text("fork: %s", strerror(errno)));
  if (pid == 0) {
    setpgid(0, 0);
    die_with(self);
    close(fds[0]);
    probe_main(probe, fds[1]);
  }
  setpgid(pid, pid);
  close(fds[1]);
  fcntl(fds[0], F_SETFL, O_NONBLOCK);

  std::string buffer;
  int status = 0;
  bool ended = false;
  while (!ended && now_us() - start < probe.limit_s * 1e6) {
    pollfd p{fds[0], POLLIN, 0};
    poll(&p, 1, 20);
    if ((p.revents & POLLIN) == 0 && p.revents != 0)
      sleep_ms(5);  // all writers gone, the leader about to end
    drain(fds[0], buffer, row);
    ended = waitpid(pid, &status, WNOHANG) == pid;
  }
  drain(fds[0], buffer, row);
  if (!ended) {
    row.status = Status::hung;
    row.notes.push_back(text("no end after %d s", probe.limit_s));
  } else if (WIFSIGNALED(status)) {
    row.status = Status::crashed;
    row.notes.push_back(text("signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status))));
  } else if (WEXITSTATUS(status) != 0) {
    row.status = Status::crashed;
    row.notes.push_back(text("exit code %d", WEXITSTATUS(status)));
  }
  end_group(pid);
  close(fds[0]);
  row.seconds = (now_us() - start) / 1e6;
  return row;
}

void run_ranks(int n, const std::function<void(int, Team&)>& body, const std::function<bool(int)>& may_die) {
  Team team(n);
  std::vector<pid_t> pids;
  const pid_t self = getpid();
  for (int rank = 0; rank < n; ++rank) {
    const pid_t pid = fork();
    if (pid < 0) throw Refused(text("fork: %s", strerror(errno)));
    if (pid == 0) {
      die_with(self);
      try {
        body(rank, team);
      } catch (const std::exception& why) {
        team.fail(rank, why.what());
      }
      _exit(0);
    }
    pids.push_back(pid);
  }
  // A rank that waits on the GPU for one that failed would stay forever: 3 s to report, then it goes.
  double failed_at = 0;
  for (int left = n; left > 0; sleep_ms(2)) {
    for (int rank = 0; rank < n; ++rank) {
      int status = 0;
      if (pids[rank] == 0 || waitpid(pids[rank], &status, WNOHANG) != pids[rank]) continue;
      pids[rank] = 0, --left;
      if (WIFSIGNALED(status) && !(may_die && may_die(rank)) && failed_at == 0) {
        team.fail(rank, text("killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status))));
      }
    }
    if (failed_at == 0 && !team.failure().empty()) failed_at = now_us();
    if (failed_at == 0 || now_us() - failed_at < 3e6) continue;
    for (pid_t pid : pids) {
      if (pid != 0) kill(pid, SIGKILL);
    }
  }
  if (!team.failure().empty()) throw Refused(team.failure());
}

}  // namespace probe
