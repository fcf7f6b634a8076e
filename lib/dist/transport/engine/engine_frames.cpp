// What the links report to the engine: on_frame() passes each frame to the function for its kind. An arriving
// message meets its receive or is kept (park); the other kinds answer, continue or end transfers that have
// begun.
#include "dist/core/log.h"
#include "dist/transport/engine/engine.h"

namespace dist::net {

void Engine::on_frame(int peer, const Frame& frame, const std::byte* payload) {
  const auto text = [&] { return std::string(reinterpret_cast<const char*>(payload), frame.payload()); };
  switch (frame.kind) {
    case FrameKind::eager:
    case FrameKind::offer:
      if (Transfer* t = matching_.take_posted(key_of(frame), peer)) return meet(*t, frame, peer, payload);
      return keep_unexpected(peer, frame, payload);
    case FrameKind::accept: return on_accept(peer, frame);
    case FrameKind::data: return;  // links deliver it by data_target()
    case FrameKind::share: return on_share(peer, frame);
    case FrameKind::ack: return on_ack(frame);
    case FrameKind::refuse: return on_refuse(peer, frame);
    case FrameKind::cancel: return on_given_up(frame.other(), false);
    case FrameKind::drop: return on_given_up(frame.id, true);
    case FrameKind::withdraw: return on_withdrawn(peer, frame);
    case FrameKind::goodbye: return on_goodbye(peer, text());
    case FrameKind::death_notice:
      if (frame.id < peers_.size() && static_cast<int>(frame.id) != rank())
        on_death_notice(static_cast<int>(frame.id), text());
      return;
  }
}

// Keeps a message without a receive. If its collective has ended here, it comes too late, and the next
// collective fails.
void Engine::keep_unexpected(int peer, const Frame& frame, const std::byte* payload) {
  const UnexpectedMessage& unexpected = matching_.keep_unexpected(frame, peer, payload);
  const Mailbox* const next = matching_.next_collective(frame);
  if (!next || gave_up_ || !failures_.empty()) return;
  for (Op* op = ops_.first(); op; op = op->next)
    if (op->box == next) return fail_op(*op, unreceived_failure(rank(), *op, unexpected.unreceived()));
}

void Engine::on_written(std::uint64_t id, std::uint64_t bytes) {
  Transfer* t = find(id, true);
  if (!t) return;
  if (t->stage == Transfer::Stage::writing && t->wants_ack) {
    t->stage = Transfer::Stage::offered;
  } else if (t->stage == Transfer::Stage::writing || t->stage == Transfer::Stage::streaming) {
    t->moved += bytes;
    if (t->moved == t->bytes) settle(*t);
  }
}

std::byte* Engine::data_target(std::uint64_t id, std::uint64_t bytes) {
  Transfer* t = find(id, false);
  const bool fits = t && t->stage == Transfer::Stage::streaming && bytes <= t->bytes - t->moved;
  return fits ? t->data + t->moved : nullptr;
}

void Engine::on_data(std::uint64_t id, std::uint64_t bytes) {
  Transfer* t = find(id, false);
  if (!t || t->stage != Transfer::Stage::streaming) return;
  t->moved += bytes;
  if (t->moved == t->bytes) settle(*t);
}

void Engine::on_accept(int peer, const Frame& frame) {
  Link& link = *links_[static_cast<std::size_t>(peer)];
  Transfer* t = find(frame.id, true);
  if (!t) return link.send({.kind = FrameKind::cancel, .address = frame.other()});
  if (t->claim.value != 0) {  // it was offered in place, but the peer does not map it
    claims_.withdraw(t->claim);
    claims_.release(std::exchange(t->claim, {}));
  }
  t->stage = Transfer::Stage::streaming;
  t->theirs = frame.other();
  link.stream(t->id, t->data, t->bytes, t->theirs);
}

void Engine::on_ack(const Frame& frame) {
  Transfer* t = find(frame.id, true);
  if (!t) return;
  if (t->claim.value != 0 && !t->being_copied) claims_.release(std::exchange(t->claim, {}));
  t->moved = t->bytes;
  settle(*t);
}

void Engine::on_refuse(int peer, const Frame& frame) {
  const Misfit misfit{frame.opcode, frame.bytes, frame.elements()};
  if (Transfer* t = find(frame.id, true))
    return settle(*t, misfit_at_sender(rank(), *t->op, t, misfit, peer));
  // The send was buffered and ended long ago; its operation may still be running.
  const MailboxKey key = key_of(frame);
  for (Op* op = ops_.first(); op; op = op->next) {
    if (op->box->key != key || !op->has_member(peer)) continue;
    return fail_op(*op, misfit_at_sender(rank(), *op, nullptr, misfit, peer));
  }
  log(LogLevel::warn,
      "rank {} refused a message of an operation that has ended here: it expected {} bytes of {}", peer,
      frame.bytes, describe_opcode(frame.opcode));
}

void Engine::on_given_up(std::uint64_t id, bool is_send) {
  reports_.push_back([this, id, is_send] {
    Transfer* t = find(id, is_send);
    if (!t) return;
    if (is_send) links_[static_cast<std::size_t>(t->peer)]->forget(id);
    settle(*t, cancelled_failure(rank(), *t));
  });
  wake_sleeper();  // it settles the transfer: any thread receives what a rank sends to itself
}

void Engine::on_withdrawn(int peer, const Frame& frame) {
  matching_.withdraw(key_of(frame), peer, frame.id);
  transfers_.for_each([&](Transfer& t) {
    const bool met = t.stage == Transfer::Stage::copying && !t.being_copied;
    if (!t.is_send && met && t.peer == peer && t.theirs == frame.id) on_given_up(t.id, false);
  });
}

void Engine::on_backlog(Link& link) {
  backlog_.push_back(&link);
  if (link.writes_to_fd())
    poller_.want_write(link.fd(), link.peer(), true);
  else if (asleep_)
    wake_sleeper();  // the leader flushes it; no bell rings for that by itself
}

}  // namespace dist::net
