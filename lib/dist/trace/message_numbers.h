// Numbers of messages that both ends agree on without a word: the messages of two ranks in one channel meet
// their receives first in, first out, so both count alike.
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

// Of the count-th message (from 0) of `source` to `destination`, global ranks, in that channel: a hash, from
// 1 to 2^53 - 1, which every reader of JSON keeps. That any two of a million messages share a number has a
// chance of one in twenty thousand.
std::uint64_t message_number(int source, int destination, const MessageChannel& channel, std::uint64_t count);

// Numbers one rank's messages. Whoever posts a transfer, or ends one, holds order() meanwhile: so that what
// is posted first is counted first. A transfer that failed is not counted, if it is the channel's last one;
// after other failures the channel's numbers may not fit the other end's.
class MessageNumbers {
 public:
  explicit MessageNumbers(int rank) : rank_(rank) {}

  std::mutex& order() { return order_; }

  std::uint64_t send(const MessageChannel& channel, int destination);
  void send_failed(const MessageChannel& channel, int destination, std::uint64_t number);

  // A receive; from any rank when `source` is negative. Returns what it is called here.
  std::uint64_t post_receive(const MessageChannel& channel, int source);
  // `event` has everything but its number. Returns the events that are complete now: this one, once it is
  // known where all receives from any rank that were posted before it got theirs from.
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
  std::map<Flow, std::uint64_t> sent_, received_;  // so many
  std::uint64_t next_ = 0;
  std::unordered_map<std::uint64_t, Receive> receives_;
  // From the first receive on whose source is unknown, in the order they were posted.
  std::map<MessageChannel, std::deque<std::uint64_t>> unsure_;
};

}  // namespace dist::trace
