// Departures: which ranks are gone (they died, failed or left in order), what fails because of that, and the
// notice of it, which each rank passes on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dist/transport/op.h"

namespace dist::net {

// Used under the rank's lock. Ranks are global.
class Departures {
 public:
  // Sends the other ranks the news that `gone` died, as `how` says; empty: it left in order.
  using Tell = std::function<void(int gone, const std::string& how)>;
  Departures(int rank, int world_size, Tell tell)
      : rank_(rank), tell_(std::move(tell)), states_(static_cast<std::size_t>(world_size)) {}

  bool is_present(int rank) const { return state(rank).kind == PeerState::Kind::present; }
  bool has_left(int rank) const { return state(rank).kind == PeerState::Kind::left; }
  // Whether a message from `source` (or any_rank) can still come.
  bool may_come(const Op& op, int source) const;

  // To act on the news that a rank is gone, or gave up something, once everything that was sent before has
  // been taken in. What rank 2 gave up because rank 3 died fails because of that death, whichever connection
  // is read first.
  void later(std::function<void()> act) { reports_.push_back(std::move(act)); }
  bool has_reports() const { return !reports_.empty(); }
  void act_on_reports();

  // These return false if the rank was gone already. The other ranks get the news of a death before they can
  // see this rank end because of it, and so name the rank where it began.
  bool note_left(int rank);
  bool note_failed(int rank, const std::string& how);
  void note_departure(int rank);  // it has left, as seen here or reported by another rank
  // This rank gives up; false: it has before.
  bool note_abort(const std::string& reason);

  bool has_failures() const { return !failures_.empty(); }
  bool all_is_well() const { return failures_.empty() && aborted_.empty(); }
  std::string first_failure() const;       // "rank 2 died ...", or ""
  Failure failure_of(const Op& op) const;  // why it fails from now on, if it does
  Failure failure_by(int rank, const Op& op) const;
  // For a transfer that needs a rank which has left. That is not a failure until then. The news is passed on
  // first: the user may end this rank because of it, and the other ranks must not take it for the first to
  // go.
  Failure left_failure(const TransferFacts& t);
  void pass_on_departures();

 private:
  const PeerState& state(int rank) const { return states_[static_cast<std::size_t>(rank)]; }

  const int rank_;
  const Tell tell_;
  std::vector<PeerState> states_;           // by rank
  std::vector<int> failures_, departures_;  // in the order they were noticed
  std::size_t passed_on_ = 0;               // departures that the other ranks have been notified of
  std::string aborted_;                     // why every operation fails
  std::vector<std::function<void()>> reports_;
};

}  // namespace dist::net
