// Links report goodbyes (on_goodbye), closed connections (on_lost) and death notices (on_death_notice);
// act_on_all() acts on these reports after all earlier messages were taken in.
#include "dist/transport/engine/peers.h"

#include "dist/transport/engine/connections.h"
#include "dist/transport/engine/transfers.h"
#include "dist/transport/engine/waiting.h"

namespace dist::net {

Peers::Peers(int rank, int world_size, Connections& connections, Transfers& transfers, Waiting& waiting)
    : Departures(rank, world_size,
                 [this](int gone, const std::string& how) {
                   connections_.tell_others(
                       {.kind = FrameKind::death_notice, .id = static_cast<std::uint64_t>(gone)}, how, gone);
                 }),
      rank_(rank),
      world_size_(static_cast<std::size_t>(world_size)),
      connections_(connections),
      transfers_(transfers),
      waiting_(waiting) {}

void Peers::on_goodbye(int peer, const std::string& reason) {
  if (reason.empty())
    later([this, peer] { on_left(peer); });
  else
    later([this, peer, how = "gave up: " + reason] { on_failed(peer, how); });
}

void Peers::on_lost(int peer, const std::string& how) {
  if (!is_present(peer)) return;
  if (how.empty())
    later([this, peer] { on_left(peer); });
  else
    later([this, peer, how] { on_failed(peer, how); });
}

void Peers::on_death_notice(std::uint64_t rank, const std::string& how) {
  const int peer = static_cast<int>(rank);
  if (rank >= world_size_ || peer == rank_) return;
  if (how.empty())
    note_departure(peer);
  else
    later([this, peer, how] { on_failed(peer, how); });
}

// Departures, deaths and given-up transfers are reported between ordinary messages, and they end what needs
// that rank. So first take in everything that was sent before: transfers that need nothing more complete.
// Then act on the reports in their order: what a rank gave up because of a death fails because of that death.
void Peers::act_on_all() {
  connections_.poll_all();
  act_on_reports();
}

void Peers::on_left(int peer) {
  if (note_left(peer) && transfers_.end_those_that_need(peer)) pass_on_departures();
}

void Peers::on_failed(int peer, const std::string& how) {
  if (!note_failed(peer, how)) return;
  transfers_.fail_ops([&](const Op& op) { return op.has_member(peer) ? failure_by(peer, op) : Failure{}; });
  waiting_.note_activity();
}

void Peers::abort(const std::string& reason) {
  if (!note_abort(reason)) return;
  transfers_.fail_ops([this](const Op& op) { return failure_of(op); });
  waiting_.note_activity();
}

}  // namespace dist::net
