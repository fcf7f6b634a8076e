// send() and receive() start a transfer, meet() joins a receive and its message, settle() ends a transfer and
// retire() forgets it. on_frame() passes each frame to the function for its kind: an arriving message meets
// its receive or is kept, the other kinds answer, continue or end transfers that have begun.
#include "dist/transport/engine/transfers.h"

#include <cstring>
#include <utility>

#include "dist/core/counted.h"
#include "dist/core/log.h"
#include "dist/transport/engine/connections.h"
#include "dist/transport/engine/copies.h"
#include "dist/transport/engine/frames.h"
#include "dist/transport/engine/peers.h"
#include "dist/transport/engine/waiting.h"
#include "dist/transport/link/shared_link.h"
#include "dist/transport/opcode.h"
#include "dist/transport/transport.h"

namespace dist::net {

void Transfers::admit(Op& op) {
  op.box = &matching_.open(key_of(op.channel()));
  if (!peers_.all_is_well())
    op.failure = peers_.failure_of(op);
  else if (const UnexpectedMessage* const message =
               gave_up_ ? nullptr : matching_.unreceived_before(op.channel()))
    op.failure = unreceived_failure(rank_, op, message->unreceived());
  ops_.push_back(op);
}

void Transfers::dismiss(Lock& lock, Op& op) noexcept {
  if (op.transfers > 0)  // these are given up: a transfer that was waited for has been retired
    pool_.for_each([&](Transfer& t) {
      if (t.op == &op) retire(lock, t);
    });
  ops_.remove(op);
  matching_.close(*op.box);
}

Transfer& Transfers::send(Op& op, const TensorView& data, int peer) {
  Transfer& t = make(op, true, peer, data);
  ++op.transfers;
  if (op.failure)
    settle(t, op.failure);
  else if (peers_.has_left(peer))
    settle(t, peers_.left_failure(t));
  else
    transmit(t);
  return t;
}

void Transfers::transmit(Transfer& t) {
  Link& link = connections_.to(t.peer);
  const Channel& channel = t.op->channel();
  if (t.bytes <= link.eager_limit()) {
    t.stage = Transfer::Stage::writing;
    t.wants_ack = t.op->options.mode == SendMode::rendezvous;
    return link.send(send_frame(FrameKind::eager, t, channel), t.data, t.id);
  }
  Frame frame = send_frame(FrameKind::offer, t, channel);
  t.stage = Transfer::Stage::offered;
  if (const auto address = link.memory() ? link.memory()->address_of(t.data, t.bytes) : std::nullopt) {
    if (const auto claim = copies_.offer()) {
      t.claim = *claim;
      frame.flags |= flag_direct;
      frame.address = *address;
      frame.claim = claim->value;
    }
  }
  link.send(frame, nullptr, t.id);
}

Transfer& Transfers::receive(Op& op, const TensorView& data, int peer) {
  Transfer& t = make(op, false, peer, data);
  ++op.transfers;
  if (op.failure) {
    settle(t, op.failure);
  } else if (UnexpectedMessage* unexpected = matching_.take_unexpected(*op.box, peer)) {
    meet(t, unexpected->frame, unexpected->source, unexpected->payload.data());
    matching_.recycle(*unexpected);
  } else if (!peers_.may_come(op, peer)) {
    settle(t, peers_.left_failure(t));
  } else {
    t.stage = Transfer::Stage::posted;
    matching_.post(*op.box, t);
  }
  return t;
}

// Joins a receive and its message; neither is in a list any more.
void Transfers::meet(Transfer& t, const Frame& message, int source, const std::byte* payload) {
  t.stage = Transfer::Stage::streaming;
  t.peer = source;
  if (!fits(message, t.op->channel(), t.bytes))
    return refuse(t, message,
                  misfit_at_receiver(rank_, t, {message.opcode, message.bytes, message.elements()}, source));
  if (message.has(flag_withdrawn)) return settle(t, cancelled_failure(rank_, t));
  Link& link = connections_.to(source);
  t.theirs = message.id;
  if (message.kind == FrameKind::eager) {
    if (t.bytes > 0) std::memcpy(t.data, payload, t.bytes);
    t.moved = t.bytes;
    settle(t);
    link.acknowledge(message);
  } else if (std::byte* const source_here = message.has(flag_direct) && link.memory()
                                                ? link.memory()->resolve(message.address, t.bytes)
                                                : nullptr) {
    copies_.add(t, {message.claim}, source_here);
  } else if (!peers_.is_present(source)) {
    settle(t, peers_.left_failure(t));  // its message has arrived, but the rank has left
  } else {
    link.send({.kind = FrameKind::accept, .id = message.id, .address = t.id});
  }
}

void Transfers::refuse(Transfer& t, const Frame& message, Failure failure) {
  Frame reply = frame_for(FrameKind::refuse, t.op->channel());
  reply.bytes = t.bytes;
  reply.id = message.id;
  const int source = t.peer;
  settle(t, std::move(failure));
  connections_.to(source).send(reply);
}

void Transfers::settle(Transfer& t, Failure failure) {
  if (t.stage == Transfer::Stage::done) return;
  if (t.stage == Transfer::Stage::posted) matching_.withdraw(t, *t.op->box);
  t.stage = Transfer::Stage::done;
  t.failure = std::move(failure);
  waiting_.note_activity();
}

void Transfers::retire(Lock& lock, Transfer& t) noexcept {
  while (t.being_copied) waiting_.await_event(lock);
  const bool is_under_way = t.stage != Transfer::Stage::done;
  if (is_under_way || t.failure) gave_up_ = true;
  const bool met = t.stage == Transfer::Stage::copying || t.stage == Transfer::Stage::streaming;
  if (t.stage == Transfer::Stage::posted) matching_.withdraw(t, *t.op->box);
  t.stage = Transfer::Stage::done;
  if (t.is_send && (is_under_way || t.failure)) {
    Link& link = connections_.to(t.peer);
    link.forget(t.id);
    if (RingLink* const ring = link.ring()) ring->give_up_on(t.id);
    if (is_under_way && met) link.send({.kind = FrameKind::cancel, .address = t.theirs});
    if (t.claim.value != 0 && copies_.take_back(t, link)) {
      Frame news = frame_for(FrameKind::withdraw, t.op->channel());
      news.id = t.id;
      link.send(news);
    }
  } else if (is_under_way && met) {
    connections_.to(t.peer).send({.kind = FrameKind::drop, .id = t.theirs});
  }
  --t.op->transfers;
  pool_.release(t);
}

Transfer* Transfers::find(std::uint64_t id, bool is_send) {
  Transfer* t = pool_.find(id);
  return t && t->is_send == is_send && t->stage != Transfer::Stage::done ? t : nullptr;
}

void Transfers::fail_ops(const std::function<Failure(const Op&)>& failure_of) {
  for (Op* op = ops_.first(); op; op = op->next)
    if (!op->failure) op->failure = failure_of(*op);
  pool_.for_each([&](Transfer& t) {
    if (t.op->failure) settle(t, t.op->failure);
  });
}

// Everything that it ever sent has been taken in: what still needs this peer will never come.
bool Transfers::end_those_that_need(int departed) {
  bool is_missed = false;
  pool_.for_each([&](Transfer& t) {
    const bool can_copy = t.stage == Transfer::Stage::copying && t.claim.value != 0;
    const bool needs_it =
        t.peer == departed ? !can_copy : t.peer == any_rank && !peers_.may_come(*t.op, any_rank);
    if (!needs_it || t.stage == Transfer::Stage::done) return;
    settle(t, peer_left_failure(rank_, t));
    is_missed = true;
  });
  return is_missed;
}

void Transfers::warn_of_unreceived() const {
  const UnexpectedMessage* const message = matching_.unreceived();
  if (!message || gave_up_ || peers_.has_failures()) return;
  log(LogLevel::warn, "{}", describe_unreceived(rank_, message->unreceived()));
}

void Transfers::on_frame(int peer, const Frame& frame, const std::byte* payload) {
  const auto text = [&] { return std::string(reinterpret_cast<const char*>(payload), frame.payload()); };
  switch (frame.kind) {
    case FrameKind::eager:
    case FrameKind::offer:
      if (Transfer* t = matching_.take_posted(key_of(frame), peer)) return meet(*t, frame, peer, payload);
      return keep_unexpected(peer, frame, payload);
    case FrameKind::accept: return on_accept(peer, frame);
    case FrameKind::data: return;  // links deliver it by data_target()
    case FrameKind::share: return copies_.on_share(peer, frame);
    case FrameKind::ack: return on_ack(frame);
    case FrameKind::refuse: return on_refuse(peer, frame);
    case FrameKind::cancel: return on_given_up(frame.other(), false);
    case FrameKind::drop: return on_given_up(frame.id, true);
    case FrameKind::withdraw: return on_withdrawn(peer, frame);
    case FrameKind::goodbye: return peers_.on_goodbye(peer, text());
    case FrameKind::death_notice: return peers_.on_death_notice(frame.id, text());
  }
}

// Keeps a message without a receive. If its collective has ended here, it comes too late, and the next
// collective fails.
void Transfers::keep_unexpected(int peer, const Frame& frame, const std::byte* payload) {
  const UnexpectedMessage& unexpected = matching_.keep_unexpected(frame, peer, payload);
  const Mailbox* const next = matching_.next_collective(frame);
  if (!next || gave_up_ || peers_.has_failures()) return;
  fail_ops([&](const Op& op) {
    return op.box == next ? unreceived_failure(rank_, op, unexpected.unreceived()) : Failure{};
  });
}

void Transfers::on_written(std::uint64_t id, std::uint64_t bytes) {
  Transfer* t = find(id, true);
  if (!t) return;
  if (t->stage == Transfer::Stage::writing && t->wants_ack) {
    t->stage = Transfer::Stage::offered;
  } else if (t->stage == Transfer::Stage::writing || t->stage == Transfer::Stage::streaming) {
    t->moved += bytes;
    if (t->moved == t->bytes) settle(*t);
  }
}

std::byte* Transfers::data_target(std::uint64_t id, std::uint64_t bytes) {
  Transfer* t = find(id, false);
  const bool fits = t && t->stage == Transfer::Stage::streaming && bytes <= t->bytes - t->moved;
  return fits ? t->data + t->moved : nullptr;
}

void Transfers::on_data(std::uint64_t id, std::uint64_t bytes) {
  Transfer* t = find(id, false);
  if (!t || t->stage != Transfer::Stage::streaming) return;
  t->moved += bytes;
  if (t->moved == t->bytes) settle(*t);
}

void Transfers::on_accept(int peer, const Frame& frame) {
  Link& link = connections_.to(peer);
  Transfer* t = find(frame.id, true);
  if (!t) return link.send({.kind = FrameKind::cancel, .address = frame.other()});
  if (t->claim.value != 0) copies_.take_back(*t, link);  // offered in place, but the peer does not map it
  t->stage = Transfer::Stage::streaming;
  t->theirs = frame.other();
  link.stream(t->id, t->data, t->bytes, t->theirs);
}

void Transfers::on_ack(const Frame& frame) {
  Transfer* t = find(frame.id, true);
  if (!t) return;
  copies_.on_read(*t);
  t->moved = t->bytes;
  settle(*t);
}

void Transfers::on_refuse(int peer, const Frame& frame) {
  const Misfit misfit{frame.opcode, frame.bytes, frame.elements()};
  if (Transfer* t = find(frame.id, true)) return settle(*t, misfit_at_sender(rank_, *t->op, t, misfit, peer));
  // The send was buffered and ended long ago; its operation may still be running.
  const MailboxKey key = key_of(frame);
  for (Op* op = ops_.first(); op; op = op->next) {
    if (op->box->key != key || !op->has_member(peer)) continue;
    return fail_ops([&](const Op& other) {
      return &other == op ? misfit_at_sender(rank_, other, nullptr, misfit, peer) : Failure{};
    });
  }
  log(LogLevel::warn, "rank {} refused a message of an operation that has ended here: it expected {} of {}",
      peer, counted(frame.bytes, "byte"), describe_opcode(frame.opcode));
}

void Transfers::on_given_up(std::uint64_t id, bool is_send) {
  peers_.later([this, id, is_send] {
    Transfer* t = find(id, is_send);
    if (!t) return;
    if (is_send) connections_.to(t->peer).forget(id);
    settle(*t, cancelled_failure(rank_, *t));
  });
  connections_.wake_sleeper();  // it settles the transfer: any thread receives what a rank sends to itself
}

void Transfers::on_withdrawn(int peer, const Frame& frame) {
  matching_.withdraw(key_of(frame), peer, frame.id);
  pool_.for_each([&](Transfer& t) {
    const bool met = t.stage == Transfer::Stage::copying && !t.being_copied;
    if (!t.is_send && met && t.peer == peer && t.theirs == frame.id) on_given_up(t.id, false);
  });
}

void Transfers::on_backlog(Link& link) { connections_.on_backlog(link); }
void Transfers::on_lost(int peer, const std::string& how) { peers_.on_lost(peer, how); }

}  // namespace dist::net
