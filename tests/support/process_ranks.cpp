#include "support/process_ranks.h"

#include <algorithm>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dist/group/join/rendezvous.h"
#include "dist/group/rank_context.h"

namespace dist::test {
namespace {

constexpr char ready_mark = '\x01';

struct Pipe {
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
    read_end = UniqueFd(ends[0]);
    write_end = UniqueFd(ends[1]);
  }
  UniqueFd read_end, write_end;
};

[[noreturn]] void run_child(int rank, int n, const std::string& address, int out,
                            const ProcessRanks::Body& fn) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  rank_context().launch = LaunchInfo{.rank = rank,
                                     .world_size = n,
                                     .local_rank = rank,
                                     .local_world_size = n,
                                     .store_address = address,
                                     .store_is_external = true,
                                     .token = "process_ranks",
                                     .launcher = "spawn"};
  std::string text;
  try {
    text = fn(rank, [out] { (void)!write(out, &ready_mark, 1); });
  } catch (const std::exception& error) {
    text = error.what();
  }
  (void)!write(out, text.data(), text.size());
  _exit(0);
}

}  // namespace

// The children wait at a gate until all are there and the server has begun: a child that is forked while a
// thread of its parent allocates memory finds the allocator of AddressSanitizer locked, forever.
ProcessRanks::ProcessRanks(int n, const Body& fn) {
  const std::string address = fmt::format("unix://@distlab-test-{}-{}", getpid(), rand());
  Pipe gate;  // open when no process holds its write end any more
  for (int rank = 0; rank < n; ++rank) {
    Pipe said;
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error("fork failed");
    if (pid == 0) {
      gate.write_end.reset();
      char nothing;
      (void)!read(gate.read_end.get(), &nothing, 1);
      run_child(rank, n, address, said.write_end.get(), fn);
    }
    Child child;
    child.pid = pid;
    child.pipe = std::move(said.read_end);
    children_.push_back(std::move(child));
  }
  server_ = std::make_unique<StoreServer>(address, "process_ranks");
}

ProcessRanks::~ProcessRanks() {
  for (auto& child : children_)
    if (!child.ended) {
      ::kill(child.pid, SIGKILL);
      waitpid(child.pid, nullptr, 0);
    }
}

void ProcessRanks::signal(int rank, int number) {
  const Child& child = children_[static_cast<std::size_t>(rank)];
  if (!child.ended) ::kill(child.pid, number);
}

void ProcessRanks::kill(int rank) {
  signal(rank, SIGKILL);
  const auto store =
      make_tcp_store(server_->address(), "process_ranks", Deadline::after(std::chrono::seconds(5)));
  cancel_rendezvous(store, 0, fmt::format("rank {} was killed by signal 9 (Killed)", rank));
}

bool ProcessRanks::wait_ready(std::chrono::milliseconds patience) {
  const auto until = Clock::now() + patience;
  const auto all_ready = [&] {
    return std::ranges::all_of(children_, [](auto& c) { return c.ready || c.ended; });
  };
  while (!all_ready() && Clock::now() < until) pump(std::chrono::milliseconds(20));
  return std::ranges::all_of(children_, &Child::ready);
}

std::vector<ProcessRanks::Report> ProcessRanks::join(std::chrono::milliseconds patience) {
  const auto until = Clock::now() + patience;
  while (!std::ranges::all_of(children_, &Child::ended) && Clock::now() < until)
    pump(std::chrono::milliseconds(20));
  std::vector<Report> reports;
  for (auto& child : children_) {
    if (!child.ended) {
      ::kill(child.pid, SIGKILL);
      child.said = "still running";
      reap(child);
      child.report.signal = 0;
    }
    reports.push_back(child.report);
  }
  return reports;
}

void ProcessRanks::pump(std::chrono::milliseconds patience) {
  std::vector<pollfd> fds;
  for (auto& child : children_) fds.push_back({child.ended ? -1 : child.pipe.get(), POLLIN, 0});
  if (poll(fds.data(), fds.size(), static_cast<int>(patience.count())) <= 0) return;
  for (std::size_t i = 0; i < fds.size(); ++i) {
    if (fds[i].revents == 0) continue;
    char buffer[4096];
    const ssize_t got = read(fds[i].fd, buffer, sizeof buffer);
    if (got <= 0) {
      reap(children_[i]);
      continue;
    }
    for (char c : std::string_view(buffer, static_cast<std::size_t>(got)))
      if (c == ready_mark) {
        children_[i].ready = true;
      } else {
        children_[i].said += c;
      }
  }
}

void ProcessRanks::reap(Child& child) {
  int status = 0;
  waitpid(child.pid, &status, 0);
  child.ended = true;
  child.report = {child.said, WIFSIGNALED(status) ? WTERMSIG(status) : 0, Clock::now()};
}

}  // namespace dist::test
