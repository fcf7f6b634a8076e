#include "dist/transport/mesh/roster.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <set>

#include "dist/core/fail.h"
#include "dist/store/raw_address.h"
#include "dist/transport/engine/tuning.h"

namespace dist::net {

LinkKind Roster::way_to(const RankAddress& peer) const {
  if (peer.rank == mine_.rank) return LinkKind::self;
  if (transport_ == "tcp" || peer.local_address.empty()) return LinkKind::tcp;
  if (peer.host == mine_.host) return peer.process == mine_.process ? LinkKind::thread : LinkKind::process;
  if (transport_ == "shm")
    fail(Errc::unsupported,
         "rank {} and rank {} are on different hosts ({} and {}), which share no memory; use "
         "DIST_TRANSPORT=auto or tcp",
         mine_.rank, peer.rank, mine_.host, peer.host);
  return LinkKind::tcp;
}

bool Roster::is_local(const RankAddress& peer) const { return way_to(peer) != LinkKind::tcp; }

Roster::Roster(const RankAddress& mine, std::vector<RankAddress> all, std::string transport)
    : mine_(mine), all_(std::move(all)), transport_(std::move(transport)) {
  int before = 0;
  for (const RankAddress& address : all_) {
    local_indices_.push_back(before);
    before += is_local(address) ? 1 : 0;
  }
}

int Roster::local_index(int rank) const { return local_indices_[static_cast<std::size_t>(rank)]; }

std::vector<int> Roster::nodes() const {
  std::map<std::string_view, int> first_of;  // by host
  std::vector<int> nodes;
  for (const RankAddress& address : all_)
    nodes.push_back(first_of.emplace(address.host, address.rank).first->second);
  return nodes;
}

static std::chrono::microseconds asked_spin_time(std::string_view given) {
  constexpr int longest = 1'000'000;
  int us = 0;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), us);
  if (error != std::errc{} || end != given.data() + given.size() || us < 0 || us > longest)
    fail(Errc::invalid_argument, "DIST_SPIN_US=\"{}\" is not a number from 0 to {}", given, longest);
  return std::chrono::microseconds(us);
}

// Polling pays when every rank of this host has a CPU of its own; otherwise it keeps other ranks from
// running.
std::chrono::microseconds Roster::spin_time() const {
  if (const char* given = std::getenv("DIST_SPIN_US")) return asked_spin_time(given);
  std::set<int> cpus;
  std::size_t ranks = 0;
  for (const RankAddress& address : all_) {
    if (address.host != mine_.host) continue;
    cpus.insert(address.cpus.begin(), address.cpus.end());
    ++ranks;
  }
  const bool fits_quota = mine_.cpu_quota == 0 || ranks <= static_cast<std::size_t>(mine_.cpu_quota);
  return fits_quota && ranks <= cpus.size() ? net::spin_time : std::chrono::microseconds{0};
}

std::vector<SocketAddress> Roster::addresses_of(const RankAddress& peer, const std::string& store) const {
  if (way_to(peer) == LinkKind::process) return {parse_address(peer.local_address)};
  std::vector<SocketAddress> all;
  for (const std::string& text : peer.addresses) {
    all.push_back(parse_address(text));
    if (is_link_local(all.back().host)) all.back().host += scope_of(store);
  }
  if (peer.host == mine_.host)  // the loopback device first
    std::ranges::stable_partition(all, [](const SocketAddress& a) { return is_loopback(a.host); });
  return all;
}

bool Roster::is_first_here() const { return nodes()[static_cast<std::size_t>(mine_.rank)] == mine_.rank; }

}  // namespace dist::net
