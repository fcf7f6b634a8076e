// Peers: which ranks are still there, and the failures of operations that need one that is not. Links and
// other ranks report departures and deaths; settle_reports() acts on them. Used under the rank's lock.
#pragma once

#include <cstdint>
#include <string>

#include "dist/transport/departures.h"

namespace dist::net {

class Connections;
class Transfers;
class Waiting;

class Peers : public Departures {
 public:
  Peers(int rank, int world_size, Connections& connections, Transfers& transfers, Waiting& waiting);

  // Reports, in the order in which they come.
  void on_goodbye(int peer, const std::string& reason);
  void on_lost(int peer, const std::string& how);  // its connection; empty: it had left in order
  void on_death_notice(std::uint64_t peer, const std::string& how);  // by another rank; empty: it had left
  void settle_reports() {
    if (has_reports()) act_on_all();
  }

  void abort(const std::string& reason);  // every operation fails from now on

 private:
  void act_on_all();
  void on_left(int peer);
  void on_failed(int peer, const std::string& how);

  const int rank_;
  const std::size_t world_size_;
  Connections& connections_;
  Transfers& transfers_;
  Waiting& waiting_;
};

}  // namespace dist::net
