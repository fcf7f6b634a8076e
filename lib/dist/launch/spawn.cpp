// spawn(), and its ranks where they are processes. Family forks them, opens the store, then waits for reports
// and ends: a rank's failure is noted, the others get `grace` to report theirs, and those that stay are
// killed. The root cause is what spawn() throws.
#include "dist/launch/spawn.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include <poll.h>
#include <sys/eventfd.h>

#include "dist/core/fail.h"
#include "dist/core/limits.h"
#include "dist/core/memory/arena.h"
#include "dist/core/standard_streams.h"
#include "dist/group/join/rendezvous.h"
#include "dist/group/rank_context.h"
#include "dist/launch/child_process.h"
#include "dist/launch/failures.h"
#include "dist/launch/heard_children.h"
#include "dist/launch/spawn_simulated.h"
#include "dist/launch/spawn_threads.h"
#include "dist/store/tcp_store.h"
#include "dist/trace/parts.h"

namespace dist {
namespace {

class Family {
 public:
  Family(int n, Timeout grace)
      : n_(n), grace_(grace), address_("unix://@distlab-spawn-" + random_word()), token_(random_word()) {}

  // The ranks are forked before the store exists, so that they inherit neither its thread's locks nor its
  // sockets; they wait at a gate until it does.
  void start(const RankFunction& fn) {
    UniqueFd gate(eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC));  // counts the ranks that may pass
    if (!gate) fail_errno(Errc::resource, errno, "spawn: eventfd");
    for (int rank = 0; rank < n_; ++rank) {
      children_.emplace_back([&](int report_fd) {
        for (ChildProcess& sibling : children_) sibling.abandon();
        for (eventfd_t pass; eventfd_read(gate.get(), &pass) != 0 && errno == EINTR;) {
        }
        gate.reset();
        return run_child(rank, fn, report_fd);
      });
    }
    server_ = std::make_unique<StoreServer>(address_, token_);
    if (eventfd_write(gate.get(), static_cast<eventfd_t>(n_)) != 0)
      fail_errno(Errc::resource, errno, "spawn: eventfd");
  }

  // Throws the root cause if a rank failed.
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
    failures_.raise_first();
  }

 private:
  int run_child(int rank, const RankFunction& fn, int report_fd) {
    LaunchInfo launch = spawned_rank(rank, n_);
    launch.store_address = address_;
    launch.store_is_external = true;
    launch.token = token_;
    // The context that the child has inherited may be in a job. It is not the child's own, so it is left
    // alone, not destroyed.
    renew_process_rank_context().launch = launch;
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
  std::deque<ChildProcess> children_;
  Failures failures_;
  Deadline deadline_ = Deadline::never();
  bool too_late_ = false;  // the rest were killed here
};

void spawn_processes(int n, const RankFunction& fn, Timeout grace) {
  open_standard_streams();  // before anything else is opened
  make_room_for_descriptors(n, "spawn");
  const HeardChildren heard;  // from before they are started until they are reaped
  Family family(n, grace);
  family.start(fn);
  family.wait();
}

}  // namespace

void spawn(int n, const std::function<void(int rank)>& fn, const SpawnOptions& options) {
  if (n < 1) fail(Errc::invalid_argument, "spawn: {} ranks were asked for; at least one is needed", n);
  if (!fn) fail(Errc::invalid_argument, "spawn: there is no function to call");
  if (const auto asked = simulation_asked(process_environment)) return spawn_simulated(n, fn, *asked);
  // Joined when all ranks have ended, in whatever way, and even if nothing catches what is thrown here.
  std::optional<trace::JoinedTrace> trace(std::in_place, process_environment("DIST_TRACE").value_or(""), n);
  try {
    options.as == Ranks::processes ? spawn_processes(n, fn, options.grace) : spawn_threads(n, fn);
  } catch (...) {
    trace.reset();
    throw;
  }
}

void spawn(int n, const std::function<void(int rank)>& fn, Ranks as) { spawn(n, fn, SpawnOptions{.as = as}); }

}  // namespace dist
