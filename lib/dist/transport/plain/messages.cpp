// send() and receive() start a message (begin), match() joins the two sides, settle() ends a message with or
// without a failure, end() forgets it. on_frame() handles what arrives; stream() writes the pieces of
// accepted messages. What makes messages fail, apart from a mismatch, is in message_failures.cpp.
#include "dist/transport/plain/messages.h"

#include <algorithm>
#include <utility>

#include "dist/transport/report.h"

namespace dist::net::plain {
namespace {

Header header_for(Kind kind, const Channel& channel, std::uint64_t id, std::uint64_t bytes = 0) {
  Header header{.kind = kind, .point_to_point = channel.point_to_point};
  header.context = channel.context;
  header.opcode = channel.opcode;
  header.tag = channel.tag;
  header.elements = channel.elements;
  header.id = id;
  header.bytes = bytes;
  return header;
}

// Takes out the first element at `key` for which is_it(value).
template <class Map, class Is>
auto take_first(Map& map, const typename Map::key_type& key, const Is& is_it) {
  const auto [begin, end] = map.equal_range(key);
  const auto at = std::find_if(begin, end, [&](const auto& entry) { return is_it(entry.second); });
  return at == end ? typename Map::node_type() : map.extract(at);
}

}  // namespace

void Messages::open(Op& op) {
  op.since = std::chrono::steady_clock::now();
  op.failure = departures_.failure_of(op);
  if (!op.failure) op.failure = earlier_mismatch(op);
  ops_.insert(&op);
}

Message& Messages::begin(Op& op, bool is_send, const TensorView& data, int peer) {
  Message& message = messages_[++last_id_];
  static_cast<TransferFacts&>(message) = {&op, is_send, peer, data.data, data.bytes(), 0};
  message.id = last_id_;
  message.stage = is_send ? Message::Stage::offered : Message::Stage::posted;
  if (op.failure) settle(message, op.failure);
  return message;
}

std::uint64_t Messages::send(Op& op, const TensorView& data, int to) {
  Message& message = begin(op, true, data, to);
  if (op.failure) return message.id;
  if (departures_.has_left(to)) {
    settle(message, departures_.left_failure(message));
    return message.id;
  }
  const bool is_eager = message.bytes <= eager_bytes;
  Header header = header_for(is_eager ? Kind::eager : Kind::offer, op.channel(), message.id, message.bytes);
  header.wants_ack = is_eager && op.options.mode == SendMode::rendezvous;
  peers_[to].put(header, Payload(message.data, is_eager ? message.bytes : 0));
  if (is_eager && !header.wants_ack) settle(message);
  peers_.ring();
  return message.id;
}

std::uint64_t Messages::receive(Op& op, const TensorView& data, int from) {
  Message& message = begin(op, false, data, from);
  if (op.failure) return message.id;
  const Key key = key_of(op.channel());
  const auto is_it = [&](const Unexpected& come) { return from == any_rank || come.source == from; };
  if (const auto node = take_first(unexpected_, key, is_it)) {
    const Unexpected& come = node.mapped();
    match(message, come.source, come.header, come.payload, come.withdrawn);
  } else if (!departures_.may_come(op, from)) {
    settle(message, departures_.left_failure(message));
  } else {
    posted_.emplace(key, &message);
  }
  return message.id;
}

void Messages::on_message(int source, const Header& header, Payload payload) {
  const auto is_it = [&](const Message* m) { return m->peer == any_rank || m->peer == source; };
  if (const auto node = take_first(posted_, key_of(header), is_it))
    return match(*node.mapped(), source, header, payload, false);
  unexpected_.emplace(key_of(header), Unexpected{source, header, {payload.begin(), payload.end()}});
  for (Op* op : ops_)
    if (key_of(op->channel()) == Key(header.context, false, header.tag + 1))
      if (const Failure late = earlier_mismatch(*op)) fail(*op, late);
}

// Joins a receive and its message; neither waits in a list any more.
void Messages::match(Message& receive, int source, const Header& header, Payload payload, bool withdrawn) {
  const Channel& channel = receive.op->channel();
  const bool fits = header.bytes == receive.bytes && !elements_differ(header.elements, channel.elements) &&
                    (channel.opcode == 0 || header.opcode == 0 || channel.opcode == header.opcode);
  receive.peer = source;
  receive.theirs = header.id;
  receive.stage = Message::Stage::streaming;
  if (!fits) {
    settle(receive, misfit_at_receiver(peers_.rank(), receive, {header.opcode, header.bytes, header.elements},
                                       source));
    peers_[source].put(header_for(Kind::refuse, receive.op->channel(), header.id, receive.bytes));
  } else if (withdrawn) {
    settle(receive, cancelled_failure(peers_.rank(), receive));
  } else if (header.kind == Kind::eager) {
    std::ranges::copy(payload, receive.data);
    settle(receive);
    if (header.wants_ack) peers_[source].put({.kind = Kind::ack, .id = header.id});
  } else if (!departures_.is_present(source)) {
    settle(receive, departures_.left_failure(receive));  // its message has arrived, but the rank has left
  } else {
    peers_[source].put({.kind = Kind::accept, .id = header.id, .other = receive.id});
  }
  peers_.ring();
}

void Messages::settle(Message& message, Failure failure) {
  if (message.stage == Message::Stage::done) return;
  if (message.stage == Message::Stage::posted)
    take_first(posted_, key_of(message.op->channel()), [&](const Message* m) { return m == &message; });
  message.stage = Message::Stage::done;
  message.failure = std::move(failure);
  activity_.note();
}

void Messages::end(Message& message) noexcept {
  const bool gives_up = message.stage != Message::Stage::done || message.failure;
  gave_up_ |= gives_up;
  if (gives_up && message.peer != any_rank && departures_.is_present(message.peer)) {
    Peer& other = peers_[message.peer];
    std::erase(other.streams, message.id);
    if (message.is_send)
      other.put(header_for(Kind::withdraw, message.op->channel(), message.id));
    else if (message.stage == Message::Stage::streaming)
      other.put({.kind = Kind::drop, .id = message.theirs});
    peers_.ring();
  }
  settle(message);
  messages_.erase(message.id);
}

Message* Messages::find(std::uint64_t id, bool is_send) {
  const auto at = messages_.find(id);
  const bool is_it =
      at != messages_.end() && at->second.is_send == is_send && at->second.stage != Message::Stage::done;
  return is_it ? &at->second : nullptr;
}

void Messages::on_frame(int source, const Header& header, Payload payload) {
  const std::string text(reinterpret_cast<const char*>(payload.data()), payload.size());
  Message* const sent = find(header.id, true);
  switch (header.kind) {
    case Kind::eager:
    case Kind::offer: return on_message(source, header, payload);
    case Kind::accept:
      if (!sent) return;
      sent->theirs = header.other;
      sent->stage = Message::Stage::streaming;
      return peers_[source].streams.push_back(sent->id);
    case Kind::data:
      if (Message* const message = find(header.other, false)) {
        std::ranges::copy(payload, message->data + message->moved);
        message->moved += payload.size();
        if (message->moved == message->bytes) settle(*message);
      }
      return;
    case Kind::ack:
      if (sent) settle(*sent);
      return;
    case Kind::refuse: return on_refused(source, header);
    case Kind::withdraw: return on_withdrawn(source, header);
    case Kind::drop:
      return departures_.later([this, id = header.id] {
        if (Message* const given_up = find(id, true))
          settle(*given_up, cancelled_failure(peers_.rank(), *given_up));
      });
    case Kind::goodbye:
      if (text.empty()) return departures_.later([this, source] { on_left(source); });
      return departures_.later([this, source, text] { on_failed(source, "gave up: " + text); });
    case Kind::death_notice:
      if (header.id >= static_cast<std::uint64_t>(peers_.size()) ||
          static_cast<int>(header.id) == peers_.rank())
        return;
      if (text.empty()) return departures_.note_departure(static_cast<int>(header.id));
      return departures_.later([this, dead = static_cast<int>(header.id), text] { on_failed(dead, text); });
  }
}

void Messages::stream(Peer& to) {
  while (!to.streams.empty() && to.unsent() < buffer_bytes) {
    Message* const message = find(to.streams.front(), true);
    if (message) {
      const std::size_t piece = std::min<std::size_t>(piece_bytes, message->bytes - message->moved);
      to.put({.kind = Kind::data, .other = message->theirs}, Payload(message->data + message->moved, piece));
      message->moved += piece;
      if (message->moved < message->bytes) continue;
      settle(*message);
    }
    to.streams.pop_front();
  }
}

}  // namespace dist::net::plain
