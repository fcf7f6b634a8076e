#include "support/fiber_network.h"

#include <algorithm>
#include <cstring>

#include "dist/core/fail.h"

namespace dist::test {

void Message::load() {
  if (std::exchange(loaded_, true) || from->count == 0) return;
  cargo_.assign(from->data, from->data + from->bytes());
}

void Message::deliver() {
  load();
  if (std::exchange(delivered_, true) || to->count == 0) return;
  std::memcpy(to->data, cargo_.data(), cargo_.size());
}

Transfer Network::post_send(int src, TensorView data, int dst, std::int64_t now) {
  auto& waiting = ports_[dst].receives_by;
  const auto found =
      std::ranges::find_if(waiting, [&](auto& m) { return m->src == src || m->src == any_rank; });
  const auto message = found != waiting.end() ? *found : std::make_shared<Message>();
  message->src = src, message->dst = dst, message->from = data;
  message->sequence = next_sequence_++;
  message->may_start = options_.mode == SendMode::eager ? now : std::max(message->may_start, now);
  if (options_.mode == SendMode::eager) {
    enqueue(message);
    if (options_.touch == Touch::early) message->load();
  }
  if (found == waiting.end()) {
    ports_[dst].sends_to.push_back(message);
  } else {
    waiting.erase(found);
    match(message);
  }
  return {message, true};
}

Transfer Network::post_receive(int dst, TensorView data, int src, std::int64_t now) {
  if (data.count > 0) std::memset(data.data, 0xA5, data.bytes());
  auto& waiting = ports_[dst].sends_to;
  const auto found = std::ranges::find_if(waiting, [&](auto& m) { return m->src == src || src == any_rank; });
  const auto message = found != waiting.end() ? *found : std::make_shared<Message>();
  message->to = data;
  if (options_.mode == SendMode::rendezvous) message->may_start = std::max(message->may_start, now);
  if (found == waiting.end()) {
    message->src = src, message->dst = dst;
    ports_[dst].receives_by.push_back(message);
  } else {
    waiting.erase(found);
    match(message);
  }
  return {message, false};
}

void Network::match(const std::shared_ptr<Message>& message) {
  Message& m = *message;
  if (m.from->bytes() != m.to->bytes())
    fail(Errc::mismatch, "rank {} sends {} bytes to rank {}, which receives {} bytes", m.src, m.from->bytes(),
         m.dst, m.to->bytes());
  if (options_.touch == Touch::early) m.deliver();
  if (options_.mode == SendMode::rendezvous) enqueue(message);
}

void Network::enqueue(const std::shared_ptr<Message>& message) {
  queue_.emplace(std::pair(message->may_start, message->sequence), message);
}

std::optional<std::int64_t> Network::next_start() const {
  if (queue_.empty()) return std::nullopt;
  return queue_.begin()->first.first;
}

// A message whose ports are busy goes back into the queue, and others may overtake it.
std::shared_ptr<Message> Network::start_next() {
  auto message = queue_.extract(queue_.begin()).mapped();
  std::int64_t &out = ports_[message->src].send_free, &in = ports_[message->dst].receive_free;
  const std::int64_t start = std::max({message->may_start, out, in});
  if (start > message->may_start) {
    message->may_start = start;
    enqueue(message);
    return nullptr;
  }
  message->started = true;
  message->ends = out = in = start + 1;
  return message;
}

void Network::drop(const Transfer& transfer) noexcept {
  Message& m = *transfer.message;
  if (!transfer.is_send) m.never_deliver();
  if (transfer.is_send && (m.matched() || options_.mode == SendMode::eager)) {
    m.load();
  } else if (!m.matched()) {
    std::erase(ports_[m.dst].sends_to, transfer.message);
    std::erase(ports_[m.dst].receives_by, transfer.message);
  }
}

const Message* Network::left_over() const {
  for (const Ports& p : ports_)
    if (!p.sends_to.empty()) return p.sends_to.front().get();
  return nullptr;
}

}  // namespace dist::test
