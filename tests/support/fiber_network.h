// Mailboxes, ports and time between virtual ranks: what fiber_transport.h describes, without the fibers.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "dist/transport/transport.h"

#include "support/fiber_transport.h"

namespace dist::test {

// One message: made by whichever side comes first, completed by the other.
struct Message {
  int src = any_rank, dst = 0;
  std::optional<TensorView> from, to;
  std::int64_t sequence = 0;   // of its isend among all
  std::int64_t may_start = 0;  // virtual time: not before this
  bool started = false;
  std::int64_t ends = 0;  // virtual time; valid once started

  bool matched() const { return from && to; }
  void load();     // takes the bytes from the send buffer, the first time it is called
  void deliver();  // puts them into the receive buffer, the first time it is called
  void never_deliver() { delivered_ = true; }

 private:
  std::vector<std::byte> cargo_;
  bool loaded_ = false, delivered_ = false;
};

// One side's view of a message.
struct Transfer {
  std::shared_ptr<Message> message;
  bool is_send = false;
  // The side's buffer may be used, from message->ends on.
  bool is_done() const { return message->started && (is_send || message->matched()); }
};

class Network {
 public:
  Network(int n, const FiberOptions& options) : options_(options), ports_(static_cast<std::size_t>(n)) {}

  // Error{mismatch} when the two sides that meet differ in size.
  Transfer post_send(int src, TensorView data, int dst, std::int64_t now);
  Transfer post_receive(int dst, TensorView data, int src, std::int64_t now);
  // Its buffer may be gone at any moment: takes from it what the other side is entitled to, and then forgets
  // the buffer.
  void drop(const Transfer& transfer) noexcept;

  // A time before which no waiting message starts; nothing when none waits.
  std::optional<std::int64_t> next_start() const;
  // Starts the first waiting message, or finds that its ports are busy for longer: then nullptr.
  std::shared_ptr<Message> start_next();

  // A message that no rank received.
  const Message* left_over() const;

 private:
  struct Ports {
    std::int64_t send_free = 0, receive_free = 0;                // virtual times
    std::deque<std::shared_ptr<Message>> sends_to, receives_by;  // unmatched, in the order of their posting
  };
  void match(const std::shared_ptr<Message>& message);
  void enqueue(const std::shared_ptr<Message>& message);

  const FiberOptions options_;
  std::vector<Ports> ports_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::shared_ptr<Message>>
      queue_;  // by (may_start, sequence)
  std::int64_t next_sequence_ = 0;
};

}  // namespace dist::test
