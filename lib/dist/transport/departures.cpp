#include "dist/transport/departures.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "dist/core/log.h"
#include "dist/transport/report.h"

namespace dist::net {

bool Departures::may_come(const Op& op, int source) const {
  if (source != any_rank) return is_present(source);
  const std::vector<int>& members = op.options.members.list();
  return std::ranges::any_of(members,
                             [&](int r) { return is_present(r) && (r != rank_ || members.size() == 1); });
}

void Departures::act_on_reports() {
  for (const auto& act : std::exchange(reports_, {})) act();
}

bool Departures::note_left(int rank) {
  if (!is_present(rank)) return false;
  states_[static_cast<std::size_t>(rank)].kind = PeerState::Kind::left;
  note_departure(rank);
  return true;
}

bool Departures::note_failed(int rank, const std::string& how) {
  if (!is_present(rank)) return false;
  pass_on_departures();
  states_[static_cast<std::size_t>(rank)] = {PeerState::Kind::failed, how};
  failures_.push_back(rank);
  log(LogLevel::info, "rank {} {}", rank, how);
  tell_(rank, how);
  return true;
}

void Departures::note_departure(int rank) {
  if (std::ranges::find(departures_, rank) == departures_.end()) departures_.push_back(rank);
}

bool Departures::note_abort(const std::string& reason) {
  if (!aborted_.empty()) return false;
  aborted_ = reason.empty() ? "aborted" : reason;
  return true;
}

std::string Departures::first_failure() const {
  if (failures_.empty()) return {};
  return fmt::format("rank {} {}", failures_.front(), state(failures_.front()).how);
}

Failure Departures::failure_of(const Op& op) const {
  if (!aborted_.empty()) return aborted_failure(rank_, op, aborted_);
  for (const int rank : failures_)
    if (op.has_member(rank)) return failure_by(rank, op);
  return {};
}

Failure Departures::failure_by(int rank, const Op& op) const {
  return peer_failure(rank_, op, rank, state(rank), first_failure(), departures_);
}

Failure Departures::left_failure(const TransferFacts& t) {
  pass_on_departures();
  return peer_left_failure(rank_, t);
}

void Departures::pass_on_departures() {
  for (; passed_on_ < departures_.size(); ++passed_on_) tell_(departures_[passed_on_], "");
}

}  // namespace dist::net
