// Links report goodbyes (on_goodbye), closed connections (on_lost) and death notices (on_death_notice);
// act_on_reports() acts on these reports after all earlier messages were taken in. Each failure is passed on
// to the other ranks before they can see this rank end because of it.
#include "dist/transport/engine/peers.h"

#include <algorithm>
#include <utility>

#include "dist/core/log.h"
#include "dist/transport/engine/connections.h"
#include "dist/transport/engine/transfers.h"
#include "dist/transport/engine/waiting.h"

namespace dist::net {

bool Peers::may_come(const Op& op, int source) const {
  if (source != any_rank) return is_present(source);
  for (int member : op.options.members.list())
    if (is_present(member) && (member != rank_ || op.options.members.size() == 1)) return true;
  return false;
}

Failure Peers::failure_of(const Op& op) const {
  if (!aborted_.empty()) return aborted_failure(rank_, op, aborted_);
  for (int peer : failures_)
    if (op.has_member(peer)) return peer_failure(rank_, op, peer, state(peer), first_failure(), departures_);
  return {};
}

std::string Peers::first_failure() const {
  if (failures_.empty()) return {};
  return fmt::format("rank {} {}", failures_.front(), state(failures_.front()).how);
}

// A rank that has left is not a failure until an operation needs it. Then that news is passed on, too: the
// user may end this rank because of the error, and the other ranks must not take it for the first one to go.
Failure Peers::left_failure(const TransferFacts& t) {
  pass_on_departures();
  return peer_left_failure(rank_, t);
}

void Peers::on_goodbye(int peer, const std::string& reason) {
  if (!reason.empty()) return report_failure(peer, "gave up: " + reason);
  report([this, peer] { on_left(peer); });
}

void Peers::on_lost(int peer, const std::string& how) {
  if (!is_present(peer)) return;
  how.empty() ? on_goodbye(peer, "") : report_failure(peer, how);
}

void Peers::on_death_notice(std::uint64_t rank, const std::string& how) {
  const int peer = static_cast<int>(rank);
  if (rank >= states_.size() || peer == rank_) return;
  how.empty() ? note_departure(peer) : report_failure(peer, how);
}

void Peers::report_failure(int peer, const std::string& how) {
  report([this, peer, how] { on_failed(peer, how); });
}

// Departures, deaths and given-up transfers are reported between ordinary messages, and they end what needs
// that rank. So first take in everything that was sent before: transfers that need nothing more complete.
// Then act on the reports in their order: what a rank gave up because of a death fails because of that death.
void Peers::act_on_reports() {
  connections_.poll_all();
  for (const auto& act : std::exchange(reports_, {})) act();
}

void Peers::on_left(int peer) {
  if (!is_present(peer)) return;
  state(peer).kind = PeerState::Kind::left;
  note_departure(peer);
  if (transfers_.end_those_that_need(peer)) pass_on_departures();
}

// Every rank passes the news on before it fails because of it: a rank that then sees this rank go has heard
// before, on the same connection, where the failure began.
void Peers::on_failed(int peer, const std::string& how) {
  if (!is_present(peer)) return;
  pass_on_departures();
  state(peer) = {PeerState::Kind::failed, how};
  failures_.push_back(peer);
  log(LogLevel::info, "rank {} {}", peer, how);
  transfers_.fail_ops([&](const Op& op) {
    return op.has_member(peer) ? peer_failure(rank_, op, peer, state(peer), first_failure(), departures_)
                               : Failure{};
  });
  waiting_.note_activity();
  pass_on(peer, how);
}

void Peers::note_departure(int peer) {
  if (std::ranges::find(departures_, peer) == departures_.end()) departures_.push_back(peer);
}

void Peers::pass_on_departures() {
  for (; passed_on_ < departures_.size(); ++passed_on_) pass_on(departures_[passed_on_], "");
}

void Peers::pass_on(int peer, const std::string& how) {
  connections_.tell_others({.kind = FrameKind::death_notice, .id = static_cast<std::uint64_t>(peer)}, how,
                           peer);
}

void Peers::abort(const std::string& reason) {
  if (!aborted_.empty()) return;
  aborted_ = reason.empty() ? "aborted" : reason;
  transfers_.fail_ops([&](const Op& op) { return aborted_failure(rank_, op, aborted_); });
  waiting_.note_activity();
}

}  // namespace dist::net
