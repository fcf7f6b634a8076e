// Large messages within a host: the receiver copies them out of the sender's memory (copy), and a sender that
// waits helps it (copy_together on the receiver, assist on the sender). run_copies() does what is due,
// without the lock during a copy; withdraw() takes the sender's buffer back.
#include <algorithm>
#include <cstring>
#include <thread>

#include "dist/core/copy_bytes.h"
#include "dist/transport/engine/engine.h"
#include "dist/transport/engine/shared_copy.h"

namespace dist::net {
namespace {

// How long to wait for a peer that may be stopped in the middle of a copy.
constexpr std::chrono::seconds stopped_copy_patience{2};

// How often to check whether the sender has copied its part.
constexpr std::chrono::microseconds look_again{200};

}  // namespace

void Engine::run_copies(Lock& lock) {
  while (!copies_.empty()) {
    Transfer* t = transfers_.find(copies_.front());
    copies_.pop_front();
    if (!t || t->being_copied) continue;
    if (t->stage == Transfer::Stage::copying) copy(lock, *t);
    if (t->stage == Transfer::Stage::offered && t->target) assist(lock, *t);
  }
}

void Engine::copy(Lock& lock, Transfer& t) {
  Link& link = *links_[static_cast<std::size_t>(t.peer)];
  if (!begin_copy(*link.shared_segment(), t.claim)) {
    t.claim = {};  // the sender took it back: its `withdraw` follows, after the reason if any
    if (peers_[static_cast<std::size_t>(t.peer)].kind != PeerState::Kind::present)
      settle(t, cancelled_failure(rank(), t));
    return;
  }
  t.being_copied = true;  // so the transfer stays, whatever happens to it during the copy
  const bool may_share = has_cores() && t.peer != rank() && t.bytes >= shared_copy_bytes;
  if (const auto target = may_share ? link.address_of(t.data, t.bytes) : std::nullopt) {
    copy_together(lock, t, *target);
  } else {
    const bool unlocks = t.bytes >= unlocked_copy_bytes;
    if (unlocks) lock.unlock();
    copy_bytes(t.data, t.source, t.bytes);
    if (unlocks) lock.lock();
  }
  end_copy(*link.shared_segment(), t.claim);
  t.being_copied = false;
  link.send({.kind = FrameKind::ack, .id = t.theirs});
  if (t.stage == Transfer::Stage::done) return note_activity();  // it failed during the copy
  t.moved = t.bytes;
  settle(t);
}

// The sender copies a part, too, if it arrives here before the receiver has taken everything.
void Engine::copy_together(Lock& lock, Transfer& t, std::uint64_t target) {
  Link& link = *links_[static_cast<std::size_t>(t.peer)];
  link.send({.kind = FrameKind::share, .id = t.theirs, .address = target});
  const SharedCopy work(link.shared_segment()->claim(t.claim), t.data, t.source, t.bytes);
  lock.unlock();
  const bool is_done = !work.run_receiver() || work.await_sender();
  lock.lock();
  if (is_done) return;
  // This wait has no limit: a sender that is stopped in the middle of its part will write to the buffer when
  // it goes on.
  while (!work.is_sender_done()) {
    if (link.is_shut()) {
      std::memcpy(t.data, t.source, t.bytes);  // the rank that took the missing part is gone
      return;
    }
    lock.unlock();
    std::this_thread::sleep_for(look_again);
    lock.lock();
    Poller::Events events;
    handle(poller_.wait(events, 0));
  }
}

void Engine::on_share(int peer, const Frame& frame) {
  Transfer* t = find(frame.id, true);
  if (!t || t->claim.value == 0) return;
  t->target = links_[static_cast<std::size_t>(peer)]->resolve(frame.address, t->bytes);
  copies_.push_back(t->id);
  wake_sleeper();
}

// The sender's part of copy_together().
void Engine::assist(Lock& lock, Transfer& t) {
  const SharedCopy work(config_.shared_segment->claim(t.claim), t.target, t.data, t.bytes);
  t.being_copied = true;
  lock.unlock();
  work.run_sender();
  lock.lock();
  t.being_copied = false;
  const bool was_read = t.stage == Transfer::Stage::done && !t.failure;
  if (was_read && t.claim.value != 0)
    claims_.release(std::exchange(t.claim, {}));  // on_ack() leaves this to the copying thread
  note_activity();
}

// Takes the sender's buffer back. Waits for a peer that is copying from it now, unless that peer is gone or
// seems stopped.
bool Engine::withdraw(ClaimRef claim, Link& peer) {
  const Deadline patience = Deadline::after(stopped_copy_patience);
  while (!claims_.withdraw(claim)) {
    if (peer.is_shut() || patience.passed()) return false;
    Poller::Events events;
    handle(poller_.wait(events, 1));
  }
  return true;
}

}  // namespace dist::net
