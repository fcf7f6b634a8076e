// spawn() with processes. Family forks the ranks behind a Gate, opens the store, then waits for reports and
// ends: a rank's failure is noted, the others get `grace` to report theirs, and those that stay are killed.
// The root cause is what spawn() throws.
#include <algorithm>
#include <random>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dist/check/who.h"
#include "dist/core/fail.h"
#include "dist/core/limits.h"
#include "dist/core/log.h"
#include "dist/core/memory/arena.h"
#include "dist/core/standard_streams.h"
#include "dist/group/join/rendezvous.h"
#include "dist/group/rank_context.h"
#include "dist/launch/child_process.h"
#include "dist/launch/oom_kills.h"
#include "dist/launch/root_cause.h"
#include "dist/store/tcp_store.h"

namespace dist {
namespace {

std::string random_word() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

// Ranks wait here until the store exists. They are forked before it, so that they inherit neither its
// thread's locks nor its sockets. One byte per rank opens the gate, not the end of the pipe, because another
// thread of the program may fork at the same time, and its child then holds the pipe as well.
class Gate {
 public:
  Gate() {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) fail_errno(Errc::resource, errno, "spawn: pipe");
    wait_ = UniqueFd(fds[0]);
    open_ = UniqueFd(fds[1]);
  }
  void open(int ranks) {
    const std::string bytes(static_cast<std::size_t>(ranks), 'g');
    if (write(open_.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
      fail_errno(Errc::resource, errno, "spawn: pipe");
    }
  }
  void wait() {  // in a child
    open_.reset();
    for (char byte; read(wait_.get(), &byte, 1) < 0 && errno == EINTR;) {
    }
    wait_.reset();
  }

 private:
  UniqueFd wait_, open_;
};

// A child inherits the context of a process that is (or was) in a job. It is not the child's own, so it is
// left alone, not destroyed.
void take_fresh_context(const LaunchInfo& launch) { renew_process_rank_context().launch = launch; }

// If a program ignores SIGCHLD, by itself or because it was started so, the system reaps its children, and no
// one learns how they ended. So the default is in force while this lives.
class HeardChildren {
 public:
  HeardChildren() {
    sigaction(SIGCHLD, nullptr, &before_);
    if (before_.sa_handler != SIG_IGN && (before_.sa_flags & SA_NOCLDWAIT) == 0) return;
    struct sigaction heard {};
    heard.sa_handler = SIG_DFL;
    replaced_ = sigaction(SIGCHLD, &heard, nullptr) == 0;
  }
  ~HeardChildren() {
    if (replaced_) sigaction(SIGCHLD, &before_, nullptr);
  }
  HeardChildren(const HeardChildren&) = delete;
  HeardChildren& operator=(const HeardChildren&) = delete;

 private:
  struct sigaction before_ {};
  bool replaced_ = false;
};

class Family {
 public:
  Family(int n, Timeout grace)
      : n_(n), grace_(grace), address_("unix://@distlab-spawn-" + random_word()), token_(random_word()) {}

  void start(const RankFunction& fn) {
    Gate gate;
    children_.reserve(static_cast<std::size_t>(n_));
    for (int rank = 0; rank < n_; ++rank) {
      children_.emplace_back([&](int report_fd) {
        for (ChildProcess& sibling : children_) sibling.abandon();
        gate.wait();
        return run_child(rank, fn, report_fd);
      });
    }
    server_ = std::make_unique<StoreServer>(address_, token_);
    gate.open(n_);
  }

  void wait() {
    while (!std::ranges::all_of(children_, &ChildProcess::is_reaped)) {
      wait_for_news();
      look();
      if (deadline_.passed()) {
        too_late_ = true;
        say_who_is_late();
        for (ChildProcess& child : children_) child.kill();
        deadline_ = Deadline::never();
      }
    }
  }

  const std::vector<RankFailure>& failures() const { return failures_; }

 private:
  int run_child(int rank, const RankFunction& fn, int report_fd) {
    LaunchInfo launch = spawned_rank(rank, n_);
    launch.store_address = address_;
    launch.store_is_external = true;
    launch.token = token_;
    take_fresh_context(launch);
    Arena::expect_ranks(n_);
    RankContextGuard guard(process_rank_context());  // the caller may be a rank that is a thread
    const auto result = run_rank(rank, fn, [&](const RankResult& r) { send_report(report_fd, r); });
    return result.threw ? 1 : 0;
  }

  void say_who_is_late() const {
    std::vector<int> late;
    for (int rank = 0; rank < n_; ++rank)
      if (!children_[static_cast<std::size_t>(rank)].is_reaped()) late.push_back(rank);
    log(LogLevel::warn, "spawn: killing {}: still there {:g} s after rank {} failed", check::list_ranks(late),
        std::chrono::duration<double>(grace_).count(), failures_.front().rank);
  }

  void wait_for_news() {
    constexpr int tick_ms = 5;  // for kernels that cannot say when a process ends
    std::vector<pollfd> events;
    bool blind = false;
    for (ChildProcess& child : children_) {
      if (child.is_reaped()) continue;  // only look() reaps: no report may be missed
      if (child.report_fd() >= 0) events.push_back({child.report_fd(), POLLIN, 0});
      if (child.end_fd() >= 0)
        events.push_back({child.end_fd(), POLLIN, 0});
      else
        blind = true;
    }
    poll(events.data(), events.size(), blind ? tick_ms : deadline_.poll_ms());
  }

  // A rank that has reported is not judged by its exit code as well.
  void look() {
    for (int rank = 0; rank < n_; ++rank) {
      ChildProcess& child = children_[static_cast<std::size_t>(rank)];
      const bool had_ended = child.is_reaped(),
                 has_ended = child.reap();  // first: after its end nothing more comes
      if (const auto report = child.read_report()) {
        note(rank, report->text, report->text, report->blames_others());
      } else if (has_ended && child.status() != 0 && !has_failed(rank) && !too_late_) {
        note_bad_end(rank, child.status());
      } else if (has_ended && !had_ended && child.status() == 0) {
        tell_ranks([&](const std::shared_ptr<Store>& store) { note_end(store, 0, rank, n_); });
      }
    }
  }

  void note_bad_end(int rank, int status) {
    if (WIFSIGNALED(status)) {
      const int number = WTERMSIG(status);
      return note(rank,
                  fmt::format("rank {} was killed by signal {} ({}){}", rank, number, strsignal(number),
                              number == SIGKILL ? oom_kills_.explain() : ""),
                  "", false);
    }
    note(rank, fmt::format("rank {} ended with exit code {}", rank, WEXITSTATUS(status)), "", false);
  }

  void note(int rank, const std::string& what, const std::string& last_words, bool blames_others) {
    failures_.push_back({rank, std::chrono::steady_clock::now(), what, last_words, blames_others});
    if (failures_.size() > 1) return;
    deadline_ = Deadline::after(grace_);
    tell_ranks(
        [&](const std::shared_ptr<Store>& store) { cancel_rendezvous(store, 0, rank_message(rank, what)); });
  }

  template <class Tell>
  void tell_ranks(const Tell& tell) {
    try {
      tell(make_tcp_store(address_, token_, Deadline::sooner(deadline_, Deadline::after(grace_))));
    } catch (const Error&) {
      // without a store there are no waiting ranks
    }
  }

  bool has_failed(int rank) const {
    return std::ranges::any_of(failures_, [&](const RankFailure& f) { return f.rank == rank; });
  }

  const int n_;
  const Timeout grace_;
  const std::string address_, token_;
  const OomKills oom_kills_;
  std::unique_ptr<StoreServer> server_;
  std::vector<ChildProcess> children_;
  std::vector<RankFailure> failures_;
  Deadline deadline_ = Deadline::never();
  bool too_late_ = false;  // the rest were killed here
};

}  // namespace

void spawn_processes(int n, const RankFunction& fn, Timeout grace) {
  open_standard_streams();  // before anything else is opened
  make_room_for_descriptors(n, "spawn");
  const HeardChildren heard;  // from before they are started until they are reaped
  Family family(n, grace);
  family.start(fn);
  family.wait();
  if (family.failures().empty()) return;
  const RankFailure& first = family.failures()[root_cause(family.failures())];
  throw Error(Errc::peer_failed, rank_message(first.rank, first.what));
}

}  // namespace dist
