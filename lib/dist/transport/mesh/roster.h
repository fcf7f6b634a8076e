// Roster: where the ranks of a job are, and how this one reaches each.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "dist/store/socket.h"
#include "dist/transport/mesh/rank_address.h"

namespace dist::net {

enum class LinkKind { self, thread, process, tcp };

class Roster {
 public:
  Roster() = default;
  // `all`: by rank. `transport`: EndpointOptions::transport.
  Roster(const RankAddress& mine, std::vector<RankAddress> all, std::string transport);
  const std::vector<RankAddress>& all() const { return all_; }
  const RankAddress& operator[](int rank) const { return all_[static_cast<std::size_t>(rank)]; }

  // Error{unsupported}: on another host, where DIST_TRANSPORT=shm asks for shared memory.
  LinkKind way_to(const RankAddress& peer) const;
  LinkKind way_to(int rank) const { return way_to((*this)[rank]); }
  bool is_local(const RankAddress& peer) const;  // reached through shared segments
  int local_index(int rank) const;               // its position among the ranks of this host
  std::vector<int> nodes() const;                // for each rank: the first rank of its host
  bool is_first_here() const;                    // this rank is the lowest of this host's ranks
  std::chrono::microseconds spin_time() const;
  // The sockets to try; `store`: the store's address.
  std::vector<SocketAddress> addresses_of(const RankAddress& peer, const std::string& store) const;

 private:
  RankAddress mine_;
  std::vector<RankAddress> all_;
  std::string transport_;
  std::vector<int> local_indices_;
};

}  // namespace dist::net
