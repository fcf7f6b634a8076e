// spawn() with processes. Family forks the ranks behind a Gate, opens the store, then waits for reports and
// ends: a rank's failure is noted, the others get `grace` to report theirs, and those that stay are killed.
// The root cause is what spawn() throws.
#include <algorithm>
#include <random>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/core/limits.h"
#include "dist/core/memory/arena.h"
#include "dist/core/standard_streams.h"
#include "dist/group/join/rendezvous.h"
#include "dist/group/rank_context.h"
#include "dist/launch/child_process.h"
#include "dist/launch/failures.h"
#include "dist/launch/heard_children.h"
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
        failures_.log_late(children_, grace_);
        for (ChildProcess& child : children_) child.kill();
        deadline_ = Deadline::never();
      }
    }
  }

  const Failures& failures() const { return failures_; }

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
      } else if (has_ended && child.status() != 0 && !failures_.has(rank) && !too_late_) {
        note(rank, failures_.describe(rank, child.status()), "", false);
      } else if (has_ended && !had_ended && child.status() == 0) {
        tell_ranks([&](const std::shared_ptr<Store>& store) { note_end(store, 0, rank, n_); });
      }
    }
  }

  void note(int rank, const std::string& what, const std::string& last_words, bool blames_others) {
    if (!failures_.note(rank, what, last_words, blames_others)) return;
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

  const int n_;
  const Timeout grace_;
  const std::string address_, token_;
  std::unique_ptr<StoreServer> server_;
  std::vector<ChildProcess> children_;
  Failures failures_;
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
  family.failures().raise_first();
}

}  // namespace dist
