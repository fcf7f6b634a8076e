// run() does what is due: copy() on the receiver, alone or together with the sender (copy_together), and the
// sender's part of that (assist). take_back() gives a sender its buffer again.
#include "dist/transport/engine/copies.h"

#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "dist/core/copy_bytes.h"
#include "dist/transport/engine/connections.h"
#include "dist/transport/engine/peers.h"
#include "dist/transport/engine/shared_copy.h"
#include "dist/transport/engine/transfers.h"
#include "dist/transport/engine/tuning.h"
#include "dist/transport/engine/waiting.h"

namespace dist::net {
namespace {

// How long to wait for a peer that may be stopped in the middle of a copy.
constexpr std::chrono::seconds stopped_copy_patience{2};

// How often to check whether the sender has copied its part.
constexpr std::chrono::microseconds look_again{200};

}  // namespace

void Copies::add(Transfer& receive, ClaimRef claim, const std::byte* source) {
  receive.stage = Transfer::Stage::copying;
  receive.claim = claim;
  receive.source = source;
  due_.push_back(receive.id);
  connections_.wake_sleeper();
}

void Copies::run(Lock& lock) {
  while (!due_.empty()) {
    Transfer* t = transfers_.find(due_.front());
    due_.pop_front();
    if (!t || t->being_copied) continue;
    if (t->stage == Transfer::Stage::copying) copy(lock, *t);
    if (t->stage == Transfer::Stage::offered && t->target) assist(lock, *t);
  }
}

void Copies::copy(Lock& lock, Transfer& t) {
  Link& link = connections_.to(t.peer);
  if (!begin_copy(*link.shared_segment(), t.claim)) {
    t.claim = {};  // the sender took it back: its `withdraw` follows, after the reason if any
    if (!peers_.is_present(t.peer)) transfers_.settle(t, cancelled_failure(rank_, t));
    return;
  }
  t.being_copied = true;  // so the transfer stays, whatever happens to it during the copy
  const bool may_share = connections_.has_cores() && t.peer != rank_ && t.bytes >= shared_copy_bytes;
  if (const auto target = may_share ? link.memory()->address_of(t.data, t.bytes) : std::nullopt) {
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
  if (t.stage == Transfer::Stage::done) return waiting_.note_activity();  // it failed during the copy
  t.moved = t.bytes;
  transfers_.settle(t);
}

// The sender copies a part, too, if it arrives here before the receiver has taken everything.
void Copies::copy_together(Lock& lock, Transfer& t, std::uint64_t target) {
  Link& link = connections_.to(t.peer);
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
    waiting_.take_in(0);
  }
}

void Copies::on_share(int peer, const Frame& frame) {
  Transfer* t = transfers_.find(frame.id, true);
  if (!t || t->claim.value == 0) return;
  LinkMemory* const memory = connections_.to(peer).memory();
  t->target = memory ? memory->resolve(frame.address, t->bytes) : nullptr;
  due_.push_back(t->id);
  connections_.wake_sleeper();
}

// The sender's part of copy_together().
void Copies::assist(Lock& lock, Transfer& t) {
  const SharedCopy work(connections_.own_segment().claim(t.claim), t.target, t.data, t.bytes);
  t.being_copied = true;
  lock.unlock();
  work.run_sender();
  lock.lock();
  t.being_copied = false;
  const bool was_read = t.stage == Transfer::Stage::done && !t.failure;
  if (was_read) on_read(t);  // the ack has left this to the copying thread
  waiting_.note_activity();
}

void Copies::on_read(Transfer& send) {
  if (send.claim.value != 0 && !send.being_copied) claims_.release(std::exchange(send.claim, {}));
}

bool Copies::take_back(Transfer& send, Link& peer) {
  const Deadline patience = Deadline::after(stopped_copy_patience);
  while (!claims_.withdraw(send.claim)) {
    if (peer.is_shut() || patience.passed()) return false;
    waiting_.take_in(1);
  }
  claims_.release(std::exchange(send.claim, {}));
  return true;
}

}  // namespace dist::net
