// Network: messages to and from switches, and the traffic of each link.
#include <algorithm>

#include "dist/sim/network.h"

namespace dist::sim {

Time Network::send_up(int rank, std::uint64_t bytes, Time ready) {
  Ports& from = ports_[static_cast<std::size_t>(rank)];
  RankTraffic& sender = traffic_[static_cast<std::size_t>(rank)];
  ++messages_;
  ++sender.messages_sent;
  sender.bytes_sent += bytes;
  if (links_) count(rank, beyond_a_switch, bytes);
  Time* const card = from.nic < 0 ? nullptr : &nic_out_free_[static_cast<std::size_t>(from.nic)];
  if (card) card_bytes_[static_cast<std::size_t>(from.nic)] += bytes;
  return hold_to_switch(rank, bytes, ready, from.send_free, card);
}

Time Network::receive_down(int rank, std::uint64_t bytes, Time ready) {
  Ports& to = ports_[static_cast<std::size_t>(rank)];
  RankTraffic& receiver = traffic_[static_cast<std::size_t>(rank)];
  ++messages_;
  ++receiver.messages_received;
  receiver.bytes_received += bytes;
  if (links_) count(beyond_a_switch, rank, bytes);
  Time* const card = to.nic < 0 ? nullptr : &nic_in_free_[static_cast<std::size_t>(to.nic)];
  return hold_to_switch(rank, bytes, ready, to.recv_free, card);
}

Time Network::hold_to_switch(int rank, std::uint64_t bytes, Time ready, Time& port, Time* card) {
  const Time start = std::max({ready, port, card ? *card : 0});
  port = later(start, slow_ ? slow_->hold(between_, bytes, rank, rank) : between_.hold(bytes));
  if (card) *card = port;
  return port;
}

void Network::count(int src, int dst, std::uint64_t bytes) {
  const auto key = static_cast<std::uint64_t>(src) << 32 | static_cast<std::uint32_t>(dst);
  LinkTraffic& link = links_->try_emplace(key, LinkTraffic{src, dst}).first->second;
  ++link.messages;
  link.bytes += bytes;
}

std::vector<LinkTraffic> Network::links() const {
  std::vector<LinkTraffic> all;
  if (links_) {
    for (const auto& [key, link] : *links_) all.push_back(link);
  }
  std::ranges::sort(all, {}, [](const LinkTraffic& link) { return std::pair(link.src, link.dst); });
  return all;
}

}  // namespace dist::sim
