// Numbers of messages on which both ends agree without communicating: the messages of two ranks in one
// channel match their receives first in, first out, so both ends count alike.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dist/trace/event.h"

namespace dist::trace {

struct MessageChannel {
  std::uint32_t context = 0;
  std::uint64_t tag = 0;
  bool point_to_point = false;
  auto operator<=>(const MessageChannel&) const = default;
};

// The number of the count-th message (from 0) from `source` to `destination` (global ranks) in that channel:
// a hash from 1 to 2^53 - 1, which every JSON reader keeps exact. Among a million messages, the chance that
// any two share a number is one in twenty thousand.
std::uint64_t message_number(int source, int destination, const MessageChannel& channel, std::uint64_t count);

// Numbers one rank's messages. Code that posts or ends a transfer holds order() while it does, so that what
// is posted first is counted first. A transfer that failed is not counted if it is the channel's last one;
// after other failures, the channel's numbers may not match the other end's.
class MessageNumbers {
 public:
  explicit MessageNumbers(int rank) : rank_(rank) {}

  std::mutex& order() { return order_; }

  std::uint64_t send(const MessageChannel& channel, int destination);
  void send_failed(const MessageChannel& channel, int destination, std::uint64_t number);

  // Posts a receive, from any rank if `source` is negative. Returns its id here.
  std::uint64_t post_receive(const MessageChannel& channel, int source);
  // `event` has everything but its number. Returns the events that are complete now: this one, once the
  // sources of all earlier receives from any rank are known.
  std::vector<Event> received(std::uint64_t receive, Event event);
  std::vector<Event> receive_failed(std::uint64_t receive);

 private:
  using Flow = std::pair<MessageChannel, int>;  // the other rank
  struct Receive {
    MessageChannel channel;
    int source;
    bool has_arrived = false;
    Event event = {};  // number 0: not counted yet
  };
  void count(Receive& receive);
  std::vector<Event> settle(const MessageChannel& channel);

  const int rank_;
  std::mutex order_;
  std::map<Flow, std::uint64_t> sent_, received_;  // counts
  std::uint64_t next_ = 0;
  std::unordered_map<std::uint64_t, Receive> receives_;
  // The receives from the first one on whose source is unknown, in the order in which they were posted.
  std::map<MessageChannel, std::deque<std::uint64_t>> unsure_;
};

}  // namespace dist::trace
