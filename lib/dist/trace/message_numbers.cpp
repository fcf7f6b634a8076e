#include "dist/trace/message_numbers.h"

#include <algorithm>

namespace dist::trace {
namespace {

// The finalizer of splitmix64 (Steele, Lea, Flood 2014).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

std::uint64_t message_number(int source, int destination, const MessageChannel& channel,
                             std::uint64_t count) {
  std::uint64_t hash = 0;
  for (const std::uint64_t part :
       {static_cast<std::uint64_t>(source), static_cast<std::uint64_t>(destination),
        std::uint64_t{channel.context}, channel.tag, std::uint64_t{channel.point_to_point}, count})
    hash = mixed(hash ^ part);
  return std::max<std::uint64_t>(hash >> 11, 1);
}

std::uint64_t MessageNumbers::send(const MessageChannel& channel, int destination) {
  return message_number(rank_, destination, channel, sent_[{channel, destination}]++);
}

void MessageNumbers::send_failed(const MessageChannel& channel, int destination, std::uint64_t number) {
  std::uint64_t& sent = sent_[{channel, destination}];
  if (sent > 0 && message_number(rank_, destination, channel, sent - 1) == number) --sent;
}

void MessageNumbers::count(Receive& receive) {
  const std::uint64_t number = received_[{receive.channel, receive.source}]++;
  receive.event.message = message_number(receive.source, rank_, receive.channel, number);
}

std::uint64_t MessageNumbers::post_receive(const MessageChannel& channel, int source) {
  const std::uint64_t id = next_++;
  Receive& receive = receives_.emplace(id, Receive{channel, source}).first->second;
  if (source < 0 || unsure_.contains(channel))
    unsure_[channel].push_back(id);
  else
    count(receive);
  return id;
}

std::vector<Event> MessageNumbers::received(std::uint64_t id, Event event) {
  const auto found = receives_.find(id);
  if (found == receives_.end()) return {};
  Receive& receive = found->second;
  event.message = receive.event.message;
  if (event.message != 0) {
    receives_.erase(found);
    return {std::move(event)};
  }
  receive.source = event.peer;
  receive.has_arrived = true;
  receive.event = std::move(event);
  return settle(MessageChannel(receive.channel));
}

std::vector<Event> MessageNumbers::receive_failed(std::uint64_t id) {
  const auto found = receives_.find(id);
  if (found == receives_.end()) return {};
  const Receive failed = std::move(found->second);
  receives_.erase(found);
  if (failed.event.message == 0) {
    std::erase(unsure_[failed.channel], id);
    return settle(failed.channel);
  }
  std::uint64_t& received = received_[{failed.channel, failed.source}];
  if (received > 0 &&
      message_number(failed.source, rank_, failed.channel, received - 1) == failed.event.message)
    --received;
  return {};
}

std::vector<Event> MessageNumbers::settle(const MessageChannel& channel) {
  std::vector<Event> complete;
  auto& unsure = unsure_[channel];
  for (; !unsure.empty(); unsure.pop_front()) {
    const auto found = receives_.find(unsure.front());
    Receive& receive = found->second;
    if (receive.source < 0) return complete;
    count(receive);
    if (!receive.has_arrived) continue;
    complete.push_back(std::move(receive.event));
    receives_.erase(found);
  }
  unsure_.erase(channel);
  return complete;
}

}  // namespace dist::trace
