#include "dist/transport/plain/departures.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "dist/core/log.h"
#include "dist/transport/report.h"

namespace dist::net::plain {

void Departures::act_on_reports() {
  for (const auto& act : std::exchange(reports_, {})) act();
}

bool Departures::note_left(int rank) {
  if (!peers_.is_present(rank)) return false;
  peers_[rank].state.kind = PeerState::Kind::left;
  note_departure(rank);
  return true;
}

bool Departures::note_failed(int rank, const std::string& how) {
  if (!peers_.is_present(rank)) return false;
  pass_on();
  peers_[rank].state = {PeerState::Kind::failed, how};
  failures_.push_back(rank);
  log(LogLevel::info, "rank {} {}", rank, how);
  peers_.tell_all({.kind = Kind::death_notice, .id = static_cast<std::uint64_t>(rank)}, how);
  return true;
}

void Departures::note_departure(int rank) {
  if (std::ranges::find(departures_, rank) == departures_.end()) departures_.push_back(rank);
}

Failure Departures::failure_of(const Op& op) const {
  for (const int rank : failures_)
    if (op.has_member(rank)) return failure_by(rank, op);
  return {};
}

Failure Departures::failure_by(int rank, const Op& op) const {
  const int first = failures_.front();
  return peer_failure(peers_.rank(), op, rank, peers_[rank].state,
                      fmt::format("rank {} {}", first, peers_[first].state.how), departures_);
}

Failure Departures::left(const TransferFacts& message) {
  pass_on();
  return peer_left_failure(peers_.rank(), message);
}

void Departures::pass_on() {
  for (; passed_on_ < departures_.size(); ++passed_on_)
    peers_.tell_all({.kind = Kind::death_notice, .id = static_cast<std::uint64_t>(departures_[passed_on_])},
                    "");
}

}  // namespace dist::net::plain
