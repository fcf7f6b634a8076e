// The transfers themselves. open() and close() begin and end an operation; begin_send() and begin_receive()
// start a transfer, transmit() sends its frame, meet() joins a receive and its message, settle() ends a
// transfer with or without a failure and retire() forgets it. carry() does all of it under one lock.
// Everything else that an Engine does is in the other engine_*.cpp files.
#include "dist/transport/engine/engine.h"

#include <cstring>
#include <utility>

#include "dist/core/fail.h"
#include "dist/transport/link/shared_link.h"
#include "dist/transport/transport.h"

namespace dist::net {
namespace {

std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> serial{0};
  return ++serial;
}

}  // namespace

Frame frame_for(FrameKind kind, const Channel& channel) {
  Frame frame{.kind = kind};
  frame.flags = channel.point_to_point ? flag_point_to_point : 0;
  frame.context = channel.context;
  frame.opcode = channel.opcode;
  frame.tag = channel.tag;
  frame.set_elements(channel.elements);
  return frame;
}

bool fits(const Frame& message, const Channel& channel, std::uint64_t bytes) {
  const std::uint32_t mine = channel.opcode, theirs = message.opcode;
  return message.bytes == bytes && (mine == 0 || theirs == 0 || mine == theirs) &&
         (channel.elements == 0 || !elements_differ(message.elements(), channel.elements));
}

namespace {

Frame send_frame(FrameKind kind, const Transfer& t, const Channel& channel) {
  Frame frame = frame_for(kind, channel);
  frame.bytes = t.bytes;
  frame.id = t.id;
  return frame;
}

}  // namespace

Frame eager_frame(const Transfer& t, const Channel& channel, SendMode mode) {
  Frame frame = send_frame(FrameKind::eager, t, channel);
  if (mode == SendMode::rendezvous) frame.flags |= flag_wants_ack;
  return frame;
}

Engine::Engine(Config config)
    : config_(std::move(config)),
      poller_(config_.shared_segment->doorbell_fd()),
      claims_(*config_.shared_segment),
      links_(static_cast<std::size_t>(config_.world_size)),
      peers_(static_cast<std::size_t>(config_.world_size)),
      spin_(config_.spin),
      serial_(next_serial()) {
  if (has_cores() && is_fenced_by_sleepers()) config_.shared_segment->header().fences.store(1);
}

void Engine::admit(Op& op) {
  op.box = &matching_.open(key_of(op.channel()));
  if (!failures_.empty() || !aborted_.empty())
    op.failure = failure_of(op);
  else if (const UnexpectedMessage* const message =
               gave_up_ ? nullptr : matching_.unreceived_before(op.channel()))
    op.failure = unreceived_failure(rank(), op, message->unreceived());
  ops_.push_back(op);
}

void Engine::dismiss(Lock& lock, Op& op) noexcept {
  if (op.transfers > 0)  // these are given up: a transfer that was waited for has been retired
    transfers_.for_each([&](Transfer& t) {
      if (t.op == &op) retire(lock, t);
    });
  ops_.remove(op);
  matching_.close(*op.box);
}

void Engine::open(Op& op) {
  op.since = std::chrono::steady_clock::now();
  Lock lock = leader_lock_.enter();
  admit(op);
}

void Engine::close(Op& op) noexcept {
  Lock lock = leader_lock_.enter();
  dismiss(lock, op);
}

// Takes the lock once, and asks for the time only if it must wait.
int Engine::carry(bool is_send, const TensorView& data, int peer, const MessageTerms& terms,
                  const std::function<Op()>& make_op) {
  Lock lock = leader_lock_.enter();
  Transfer* sent = nullptr;
  if (is_send ? send_quickly(data, peer, terms, sent) : receive_quickly(data, peer, terms)) return peer;
  Op op = make_op();
  admit(op);
  try {
    if (sent) sent->op = &op, op.transfers = 1;
    Transfer& t = sent ? *sent : is_send ? begin_send(op, data, peer) : begin_receive(op, data, peer);
    if (!t.is_settled() && !look_for(lock, t)) {
      op.since = std::chrono::steady_clock::now();
      op.options.deadline = Deadline::after(terms.timeout);
    }
    if (const Failure failure = end(lock, t)) raise(failure);
    const int other = t.peer;
    dismiss(lock, op);
    return other;
  } catch (...) {
    dismiss(lock, op);
    throw;
  }
}

std::uint64_t Engine::send(Op& op, const TensorView& data, int peer) {
  Lock lock = leader_lock_.enter();
  return begin_send(op, data, peer).id;
}

std::uint64_t Engine::receive(Op& op, const TensorView& data, int peer) {
  Lock lock = leader_lock_.enter();
  return begin_receive(op, data, peer).id;
}

Transfer& Engine::begin_send(Op& op, const TensorView& data, int peer) {
  Transfer& t = transfers_.make(op, true, peer, data.data, data.bytes());
  ++op.transfers;
  if (op.failure)
    settle(t, op.failure);
  else if (peers_[static_cast<std::size_t>(peer)].kind == PeerState::Kind::left)
    settle(t, report_left(t));
  else
    transmit(t);
  return t;
}

void Engine::transmit(Transfer& t) {
  Link& link = *links_[static_cast<std::size_t>(t.peer)];
  if (t.bytes <= link.eager_limit()) {
    t.stage = Transfer::Stage::writing;
    t.wants_ack = t.op->options.mode == SendMode::rendezvous;
    return link.send(eager_frame(t, t.op->channel(), t.op->options.mode), t.data, t.id);
  }
  Frame frame = send_frame(FrameKind::offer, t, t.op->channel());
  t.stage = Transfer::Stage::offered;
  if (const auto address = link.address_of(t.data, t.bytes)) {
    if (const auto claim = claims_.offer()) {
      t.claim = *claim;
      frame.flags |= flag_direct;
      frame.address = *address;
      frame.claim = claim->value;
    }
  }
  link.send(frame, nullptr, t.id);
}

Transfer& Engine::begin_receive(Op& op, const TensorView& data, int peer) {
  Transfer& t = transfers_.make(op, false, peer, data.data, data.bytes());
  ++op.transfers;
  if (op.failure) {
    settle(t, op.failure);
  } else if (UnexpectedMessage* unexpected = matching_.take_unexpected(*op.box, peer)) {
    meet(t, unexpected->frame, unexpected->source, unexpected->payload.data());
    matching_.recycle(*unexpected);
  } else if (!may_come(op, peer)) {
    settle(t, report_left(t));
  } else {
    t.stage = Transfer::Stage::posted;
    matching_.post(*op.box, t);
  }
  return t;
}

bool Engine::may_come(const Op& op, int source) const {
  const auto is_here = [&](int r) {
    return peers_[static_cast<std::size_t>(r)].kind == PeerState::Kind::present;
  };
  if (source != any_rank) return is_here(source);
  for (int member : op.options.members.list())
    if (is_here(member) && (member != rank() || op.options.members.size() == 1)) return true;
  return false;
}

// Joins a receive and its message; neither is in a list any more.
void Engine::meet(Transfer& t, const Frame& message, int source, const std::byte* payload) {
  t.stage = Transfer::Stage::streaming;
  t.peer = source;
  if (!fits(message, t.op->channel(), t.bytes))
    return refuse(t, message,
                  misfit_at_receiver(rank(), t, {message.opcode, message.bytes, message.elements()}, source));
  if (message.has(flag_withdrawn)) return settle(t, cancelled_failure(rank(), t));
  Link& link = *links_[static_cast<std::size_t>(source)];
  t.theirs = message.id;
  if (message.kind == FrameKind::eager) {
    if (t.bytes > 0) std::memcpy(t.data, payload, t.bytes);
    t.moved = t.bytes;
    settle(t);
    link.acknowledge(message);
  } else if (std::byte* const source_here =
                 message.has(flag_direct) ? link.resolve(message.address, t.bytes) : nullptr) {
    t.stage = Transfer::Stage::copying;
    t.claim = {message.claim};
    t.source = source_here;
    copies_.push_back(t.id);
    wake_sleeper();
  } else if (peers_[static_cast<std::size_t>(source)].kind != PeerState::Kind::present) {
    settle(t, report_left(t));  // its message is here, but the rank is not
  } else {
    link.send({.kind = FrameKind::accept, .id = message.id, .address = t.id});
  }
}

void Engine::refuse(Transfer& t, const Frame& message, Failure failure) {
  Frame reply = frame_for(FrameKind::refuse, t.op->channel());
  reply.bytes = t.bytes;
  reply.id = message.id;
  const int source = t.peer;
  settle(t, std::move(failure));
  links_[static_cast<std::size_t>(source)]->send(reply);
}

void Engine::settle(Transfer& t, Failure failure) {
  if (t.stage == Transfer::Stage::done) return;
  if (t.stage == Transfer::Stage::posted) matching_.withdraw(t, *t.op->box);
  t.stage = Transfer::Stage::done;
  t.failure = std::move(failure);
  note_activity();
}

// Ends a transfer, whatever its stage: afterwards no thread or rank touches its buffer.
void Engine::retire(Lock& lock, Transfer& t) noexcept {
  while (t.being_copied) leader_lock_.wait_for_event(lock);
  const bool is_under_way = t.stage != Transfer::Stage::done;
  if (is_under_way || t.failure) gave_up_ = true;
  const bool met = t.stage == Transfer::Stage::copying || t.stage == Transfer::Stage::streaming;
  if (t.stage == Transfer::Stage::posted) matching_.withdraw(t, *t.op->box);
  t.stage = Transfer::Stage::done;
  Link* link = t.peer == any_rank ? nullptr : links_[static_cast<std::size_t>(t.peer)].get();
  if (t.is_send && (is_under_way || t.failure)) {
    link->forget(t.id);
    if (RingLink* const ring = link->ring()) ring->give_up_on(t.id);
    if (is_under_way && met) link->send({.kind = FrameKind::cancel, .address = t.theirs});
    if (t.claim.value != 0 && withdraw(t.claim, *link)) {
      claims_.release(t.claim);
      Frame news = frame_for(FrameKind::withdraw, t.op->channel());
      news.id = t.id;
      if (!link->is_shut()) link->send(news);
    }
  } else if (is_under_way && met) {
    link->send({.kind = FrameKind::drop, .id = t.theirs});
  }
  --t.op->transfers;
  transfers_.release(t);
}

Transfer* Engine::find(std::uint64_t id, bool is_send) {
  Transfer* t = transfers_.find(id);
  return t && t->is_send == is_send && t->stage != Transfer::Stage::done ? t : nullptr;
}

}  // namespace dist::net
