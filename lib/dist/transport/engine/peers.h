// Peers: which ranks are still there, and the failures of operations that need one that is not. Links and
// other ranks report departures and deaths; settle_reports() acts on them. Used under the rank's lock.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dist/transport/report.h"

namespace dist::net {

class Connections;
class Transfers;
class Waiting;

class Peers {
 public:
  Peers(int rank, int world_size, Connections& connections, Transfers& transfers, Waiting& waiting)
      : rank_(rank),
        connections_(connections),
        transfers_(transfers),
        waiting_(waiting),
        states_(static_cast<std::size_t>(world_size)) {}

  bool is_present(int peer) const { return state(peer).kind == PeerState::Kind::present; }
  bool has_left(int peer) const { return state(peer).kind == PeerState::Kind::left; }
  // Whether a message from `source` (or any_rank) can still come.
  bool may_come(const Op& op, int source) const;

  bool any_failed() const { return !failures_.empty(); }
  bool all_is_well() const { return failures_.empty() && aborted_.empty(); }
  Failure failure_of(const Op& op) const;  // why it fails from now on, if it does
  std::string first_failure() const;       // "rank 2 died ...", or ""
  // The failure of a transfer with a rank that has left.
  Failure left_failure(const TransferFacts& t);

  // Reports, in the order in which they come.
  void on_goodbye(int peer, const std::string& reason);
  void on_lost(int peer, const std::string& how);  // its connection; empty: it had left in order
  void on_death_notice(std::uint64_t peer, const std::string& how);  // by another rank; empty: it had left
  void report(std::function<void()> act) { reports_.push_back(std::move(act)); }
  void settle_reports() {
    if (!reports_.empty()) act_on_reports();
  }

  void abort(const std::string& reason);  // every operation fails from now on

 private:
  const PeerState& state(int peer) const { return states_[static_cast<std::size_t>(peer)]; }
  PeerState& state(int peer) { return states_[static_cast<std::size_t>(peer)]; }
  void act_on_reports();
  void report_failure(int peer, const std::string& how);
  void on_left(int peer);
  void on_failed(int peer, const std::string& how);
  void note_departure(int peer);
  void pass_on_departures();
  void pass_on(int peer, const std::string& how);

  const int rank_;
  Connections& connections_;
  Transfers& transfers_;
  Waiting& waiting_;
  std::vector<PeerState> states_;  // by rank
  std::vector<int> failures_;      // in the order they were noticed
  std::vector<std::function<void()>> reports_;
  std::vector<int> departures_;  // ranks that left, as seen here or reported by another rank
  std::size_t passed_on_ = 0;    // departures that the other ranks have been notified of
  std::string aborted_;          // why every operation fails
};

}  // namespace dist::net
