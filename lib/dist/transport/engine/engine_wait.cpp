// Waiting. await() makes one thread the leader (leader_lock.h); lead() polls for a short time (advance), then
// sleeps until a bell rings or a connection has something (sleep). look_before_sleep() makes sure that no
// wake-up is lost. The calls that end a transfer follow: wait(), test(), cancel(); and progress() for
// messages that no thread waits for.
#include <algorithm>

#include "dist/transport/engine/cores.h"
#include "dist/transport/engine/engine.h"
#include "dist/transport/engine/tuning.h"

namespace dist::net {
namespace {

// With rings to poll, sockets are polled only once in this many times, because asking the kernel is
// expensive.
constexpr std::uint32_t looks_per_kernel_call = 16;

}  // namespace

template <class Done>
bool Engine::await(Lock& lock, const Done& done, Deadline deadline) {
  return leader_lock_.await(lock, done, deadline,
                            [this](Lock& l, const Done& d, Deadline until) { return lead(l, d, until); });
}

template <class Done>
bool Engine::lead(Lock& lock, const Done& done, Deadline deadline) {
  spin_.restart();
  for (;;) {
    if (advance(lock)) spin_.found();
    leader_lock_.let_others_in(lock);
    if (done()) {  // asked last: a thread that was let in may have done it, without a bell
      spin_.found();
      return true;
    }
    if (!spin_.is_over()) {
      relax_cpu();
      continue;
    }
    if (deadline.passed()) return false;
    if (sleep(lock, deadline)) spin_.found();
    spin_.restart();
  }
}

bool Engine::advance(Lock& lock) {
  bool moved = poll_links();
  if (!backlog_.empty()) moved |= flush_backlog();
  if (!copies_.empty()) {
    run_copies(lock);
    moved = true;
  }
  if (look_at_memory()) note_activity();
  return moved;
}

// Whether memory that a thread of this rank waits for has been written.
bool Engine::look_at_memory() {
  return std::ranges::any_of(watched_, [](const auto* arrived) { return (*arrived)(); });
}

bool Engine::poll_links() {
  bool moved = false;
  for (std::size_t i = 0; i < rings_.size(); ++i) moved |= rings_[i]->poll();
  if (sockets_ > 0 && (rings_.empty() || ++ticks_ % looks_per_kernel_call == 0)) {
    Poller::Events events;
    moved |= take_in(poller_.wait(events, 0));
  }
  settle_reports();
  return moved;
}

bool Engine::handle(std::span<const Poller::Event> events) {
  const bool moved = take_in(events);
  settle_reports();
  return moved;
}

bool Engine::take_in(std::span<const Poller::Event> events) {
  bool moved = false;
  for (const auto [peer] : events) {
    if (peer == Poller::doorbell) {
      if (!asleep_)
        config_.shared_segment->silence_bell();  // otherwise it rings for the leader, which is waking up
      continue;
    }
    Link& link = *links_[static_cast<std::size_t>(peer)];
    if (link.is_shut()) continue;
    link.on_ready();
    moved |= link.poll();
    if (link.has_hung_up()) {
      on_hang_up(link);
      moved = true;
    }
  }
  return moved;
}

bool Engine::flush_backlog() {
  bool moved = false;
  for (std::size_t i = 0; i < backlog_.size();) {
    Link& link = *backlog_[i];
    moved |= link.flush();
    if (link.has_backlog()) {
      ++i;
      continue;
    }
    backlog_.erase(backlog_.begin() + static_cast<std::ptrdiff_t>(i));
    if (link.writes_to_fd()) poller_.want_write(link.fd(), link.peer(), false);
  }
  return moved;
}

// If another rank wants to run and was last seen on this core, this thread keeps the core from it: move away.
void Engine::make_way() {
  SharedSegmentHeader& own = config_.shared_segment->header();
  const int core = show_core(own);
  std::vector<int> taken{core};
  bool in_the_way = false;
  for (const Link* link : rings_) {
    const SharedSegmentHeader& theirs = link->shared_segment()->header();
    if (theirs.sleeping.load(std::memory_order_relaxed) != 0) continue;
    taken.push_back(seen_core(theirs));
    in_the_way |= taken.back() == core;
  }
  if (!in_the_way) return;
  leave_cores(taken);
  show_core(own);  // otherwise the other rank leaves the same core, too
}

// Returns whether something arrived.
bool Engine::sleep(Lock& lock, Deadline deadline) {
  bool moved = false;
  if (has_cores()) make_way();
  SharedSegmentHeader& shared_segment = config_.shared_segment->header();
  shared_segment.sleeping.store(1);
  if (shared_segment.fences.load() != 0) fence_everybody();
  if (!look_before_sleep()) {
    Poller::Events events;
    asleep_ = true;
    lock.unlock();
    const auto ready = poller_.wait(events, longest_sleep(deadline).poll_ms());
    lock.lock();
    asleep_ = false;
    show_core(shared_segment);
    moved = handle(ready);
    if (ready.empty()) look_for_silence();
  }
  shared_segment.sleeping.store(0);
  return moved;
}

Deadline Engine::longest_sleep(Deadline deadline) const {
  return sockets_ == 0 ? deadline : Deadline::sooner(deadline, Deadline::after(silence_check));
}

void Engine::look_for_silence() {
  for (const auto& link : links_) {
    if (!link || link->is_shut() || !link->is_unreachable()) continue;
    const int peer = link->peer();
    forget_link(*link);
    report_failure(peer, "does not answer any more: its machine, or the network between, is down");
  }
  settle_reports();
}

bool Engine::look_before_sleep() {
  bool stay_awake = !copies_.empty() || look_at_memory() || flush_backlog();
  std::vector<Link*> departed;
  for (Link* link : rings_) {
    stay_awake |= link->look_before_sleep();
    if (link->has_hung_up()) departed.push_back(link);
  }
  for (Link* link : departed) on_hang_up(*link);
  settle_reports();
  return stay_awake || !departed.empty();
}

// For a thread that does not wait. The conditions under which the leader fell asleep must stay true: the
// peers know all that was read, and nothing is left to do.
void Engine::look_around(Lock& lock) {
  advance(lock);
  if (asleep_ && look_before_sleep()) wake_sleeper();
}

void Engine::wake_sleeper() {
  if (asleep_) config_.shared_segment->ring_bell();
}

// The leader is not the only one that ends transfers: test() polls as well, and may take in what the leader
// sleeps for.
void Engine::note_activity() {
  ++activity_;
  leader_lock_.wake_all();
  wake_sleeper();
}

bool Engine::await_change(Lock& lock, const std::function<bool()>& done, Deadline deadline) {
  return await(lock, done, deadline);
}

// Polls while an answer may be a matter of nanoseconds; returns whether the transfer ended. Another leader
// polls itself.
bool Engine::look_for(Lock& lock, const Transfer& t) {
  constexpr int looks = 200;
  const bool may_look = has_cores() && !leader_lock_.is_taken();
  for (int i = 0; may_look && i < looks; ++i) {
    advance(lock);
    if (t.is_settled()) return true;
  }
  return false;
}

// Waits for the transfer, and retires it.
Failure Engine::end(Lock& lock, Transfer& t) {
  const auto settled = [&t] { return t.is_settled(); };
  if (!t.is_settled()) {
    await(lock, settled, t.op->options.deadline);
    if (t.being_copied)
      await(
          lock, [&t] { return !t.being_copied; }, Deadline::never());
  }
  Failure failure;
  if (t.stage != Transfer::Stage::done)
    failure = timeout_failure(rank(), t);
  else if (t.failure)
    failure = t.failure;
  retire(lock, t);
  return failure;
}

int Engine::wait(std::uint64_t id) {
  Lock lock = leader_lock_.enter();
  Transfer& t = *transfers_.find(id);
  const Failure failure = end(lock, t);
  const int peer = t.peer;
  lock.unlock();
  if (failure) raise(failure);
  return peer;
}

bool Engine::test(std::uint64_t id) {
  Lock lock = leader_lock_.enter();
  Transfer& t = *transfers_.find(id);
  if (!t.is_settled()) look_around(lock);
  return t.is_settled() || t.op->options.deadline.passed();
}

bool Engine::is_short(std::uint64_t id) {
  Lock lock = leader_lock_.enter();
  const Transfer& t = *transfers_.find(id);
  if (t.peer == any_rank) return t.bytes <= std::min(shared_eager_bytes, tcp_eager_bytes);
  return t.bytes <= links_[static_cast<std::size_t>(t.peer)]->eager_limit();
}

void Engine::cancel(std::uint64_t id) noexcept {
  Lock lock = leader_lock_.enter();
  retire(lock, *transfers_.find(id));
}

void Engine::progress(Timeout patience) {
  // What this thread last saw of this engine; a stale value only makes it return early once.
  thread_local struct { std::uint64_t serial = 0, activity = 0; } seen;
  Lock lock = leader_lock_.enter();
  if (patience <= Timeout::zero())
    look_around(lock);
  else if (seen.serial == serial_)
    await(
        lock, [&] { return activity_ != seen.activity; }, Deadline::after(patience));
  seen = {serial_, activity_};
}

void Engine::interrupt() {
  Lock lock = leader_lock_.enter();
  note_activity();
}

}  // namespace dist::net
