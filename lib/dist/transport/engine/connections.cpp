// A rank's links. poll() and wait() take in what has arrived: from rings by polling, from sockets by the
// poller (take_in). sleep() makes sure that no wake-up is lost: first the peers learn that this rank sleeps,
// then it polls once more (look_before_sleep). on_hang_up() and close_silent() notice that a peer is gone.
#include "dist/transport/engine/connections.h"

#include <algorithm>
#include <utility>

#include "dist/transport/engine/cores.h"
#include "dist/transport/engine/tuning.h"
#include "dist/transport/link/asymmetric_fence.h"

namespace dist::net {
namespace {

// With rings to poll, sockets are polled only once in this many times, because asking the kernel is
// expensive.
constexpr std::uint32_t polls_per_kernel_call = 16;
constexpr auto unanswered = "does not answer any more: its machine, or the network between, is down";

}  // namespace

Connections::Connections(int rank, int world_size, std::shared_ptr<SharedSegment> own, bool has_cores,
                         LinkEvents& events)
    : rank_(rank),
      has_cores_(has_cores),
      own_(std::move(own)),
      events_(events),
      poller_(own_->doorbell_fd()),
      links_(static_cast<std::size_t>(world_size)) {
  if (has_cores_ && is_fenced_by_sleepers()) own_->header().fences.store(1);
}

Connections::~Connections() {
  own_->header().departed.store(1);
  for (const auto& link : links_)
    if (link && link->shared_segment() && link->peer() != rank_) link->shared_segment()->wake();
}

void Connections::add(std::unique_ptr<Link> link) {
  Link& added = *link;
  links_[static_cast<std::size_t>(added.peer())] = std::move(link);
  if (added.fd() >= 0) poller_.add(added.fd(), added.peer());
  if (added.writes_to_fd())
    ++sockets_;
  else if (added.peer() != rank_)
    rings_.push_back(&added);
}

bool Connections::poll() {
  bool moved = false;
  for (std::size_t i = 0; i < rings_.size(); ++i) moved |= rings_[i]->poll();
  if (sockets_ > 0 && (rings_.empty() || ++polls_ % polls_per_kernel_call == 0)) moved |= wait(0);
  return moved;
}

void Connections::poll_all() {
  constexpr int turns = 64;
  for (std::size_t i = 0; i < rings_.size(); ++i)
    for (int turn = 0; turn < turns && rings_[i]->poll(); ++turn) {
    }
  for (int turn = 0; sockets_ > 0 && turn < turns && wait(0); ++turn) {
  }
}

bool Connections::wait(int milliseconds) {
  Poller::Events events;
  return take_in(poller_.wait(events, milliseconds));
}

bool Connections::take_in(std::span<const Poller::Event> events) {
  bool moved = false;
  for (const auto [peer] : events) {
    if (peer == Poller::doorbell) {
      if (!asleep_) own_->silence_bell();  // otherwise it rings for the leader, which is waking up
      continue;
    }
    Link& link = to(peer);
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

void Connections::on_backlog(Link& link) {
  backlog_.push_back(&link);
  if (link.writes_to_fd())
    poller_.want_write(link.fd(), link.peer(), true);
  else
    wake_sleeper();  // the leader flushes it; no bell rings for that by itself
}

bool Connections::flush_backlog() {
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

bool Connections::has_socket_backlog() const { return std::ranges::any_of(backlog_, &Link::writes_to_fd); }

bool Connections::sleep(LeaderLock& leader_lock, Lock& lock, Deadline deadline,
                        const std::function<bool()>& must_stay_awake) {
  if (has_cores_) make_way();
  SharedSegmentHeader& own = own_->header();
  own.sleeping.store(1);
  if (own.fences.load() != 0) fence_everybody();
  bool moved = false;
  if (!must_stay_awake()) {
    const Deadline until =
        sockets_ == 0 ? deadline : Deadline::sooner(deadline, Deadline::after(silence_check));
    Poller::Events events;
    asleep_ = true;
    lock.unlock();
    const auto ready = poller_.wait(events, until.poll_ms());
    leader_lock.enter_again(lock);
    asleep_ = false;
    show_core(own);
    moved = take_in(ready);
    if (ready.empty()) close_silent();
  }
  own.sleeping.store(0);
  return moved;
}

bool Connections::look_before_sleep() {
  bool stay_awake = flush();
  std::vector<Link*> departed;
  for (Link* link : rings_) {
    stay_awake |= link->look_before_sleep();
    if (link->has_hung_up()) departed.push_back(link);
  }
  for (Link* link : departed) on_hang_up(*link);
  return stay_awake || !departed.empty();
}

// If another rank wants to run and was last seen on this core, this thread keeps the core from it: move away.
void Connections::make_way() {
  SharedSegmentHeader& own = own_->header();
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

void Connections::on_hang_up(Link& link) {
  if (link.is_shut()) return;
  while (link.poll()) {
  }
  const SharedSegment* const segment = link.shared_segment();
  const bool in_order = segment && segment->header().left_in_order.load() != 0;
  const bool was_cut = link.was_cut();
  close(link);
  events_.on_lost(link.peer(), in_order  ? ""
                               : was_cut ? unanswered
                                         : "died (its connection closed without a goodbye)");
}

void Connections::close_silent() {
  for (const auto& link : links_) {
    if (!link || link->is_shut() || !link->is_unreachable()) continue;
    close(*link);
    events_.on_lost(link->peer(), unanswered);
  }
}

void Connections::close(Link& link) {
  if (link.fd() >= 0) poller_.remove(link.fd());
  if (link.writes_to_fd()) --sockets_;
  std::erase(rings_, &link);
  std::erase(backlog_, &link);
  link.shut();
}

void Connections::tell_others(Frame frame, const std::string& text, int but) {
  frame.bytes = text.size();
  for (const auto& link : links_)
    if (link && link->peer() != rank_ && link->peer() != but && !link->is_shut())
      link->send(frame, reinterpret_cast<const std::byte*>(text.data()));
}

void Connections::close_all(bool in_order) {
  if (in_order) own_->header().left_in_order.store(1);
  for (const auto& link : links_) {
    if (!link || link->is_shut()) continue;
    link->look_before_sleep();  // reports to the peer what was read
    close(*link);
  }
}

}  // namespace dist::net
