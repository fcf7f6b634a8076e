// Why messages fail: this rank gives up (abort), the ranks had different roots (earlier_mismatch), the other
// side refuses or withdraws a message, or a rank is gone.
#include "dist/core/log.h"
#include "dist/transport/plain/messages.h"
#include "dist/transport/report.h"

namespace dist::net::plain {

void Messages::abort(const std::string& reason) {
  if (!departures_.note_abort(reason)) return;
  for (Op* op : ops_) fail(*op, departures_.failure_of(*op));
  activity_.note();
}

// A message of an earlier collective of that group, which has ended here without receiving it: the ranks had
// different roots.
Failure Messages::earlier_mismatch(const Op& op) const {
  const Channel& now = op.channel();
  if (now.point_to_point || now.opcode == 0 || gave_up_ || departures_.has_failures()) return {};
  const auto end = unexpected_.lower_bound({now.context, false, now.tag});
  for (auto at = unexpected_.lower_bound({now.context, false, 0}); at != end; ++at)
    if (const Header& header = at->second.header; header.opcode != 0)  // 0: the library's own
      return unreceived_failure(peers_.rank(), op, {at->second.source, header.opcode, header.tag});
  return {};
}

void Messages::log_unreceived() const {
  if (gave_up_ || departures_.has_failures()) return;
  for (const auto& [key, message] : unexpected_)
    if (!message.header.point_to_point && message.header.opcode != 0)
      log(LogLevel::warn, "{}",
          describe_unreceived(peers_.rank(), {message.source, message.header.opcode, message.header.tag}));
}

void Messages::fail(Op& op, const Failure& failure) {
  if (op.failure) return;
  op.failure = failure;
  for (auto& [id, message] : messages_)
    if (message.op == &op) settle(message, failure);
}

void Messages::on_left(int rank) {
  if (!departures_.note_left(rank)) return;
  for (auto& [id, message] : messages_) {
    const bool needs_it =
        message.peer == rank || (message.peer == any_rank && !departures_.may_come(*message.op, any_rank));
    if (needs_it && message.stage != Message::Stage::done) settle(message, departures_.left_failure(message));
  }
}

void Messages::on_failed(int rank, const std::string& how) {
  if (!departures_.note_failed(rank, how)) return;
  for (Op* op : ops_)
    if (op->has_member(rank)) fail(*op, departures_.failure_by(rank, *op));
}

// The send itself may have ended long ago, if it was eager: then its operation fails.
void Messages::on_refused(int source, const Header& header) {
  if (Message* const sent = find(header.id, true))
    return settle(*sent, misfit_at_sender(peers_.rank(), *sent->op, sent,
                                          {header.opcode, header.bytes, header.elements}, source));
  for (Op* op : ops_)
    if (key_of(op->channel()) == key_of(header))
      fail(*op, misfit_at_sender(peers_.rank(), *op, nullptr, {header.opcode, header.bytes, header.elements},
                                 source));
}

void Messages::on_withdrawn(int source, const Header& header) {
  const auto [begin, end] = unexpected_.equal_range(key_of(header));
  for (auto at = begin; at != end; ++at)
    if (at->second.source == source && at->second.header.id == header.id)
      at->second.withdrawn = at->second.header.kind == Kind::offer;
  departures_.later([this, source, id = header.id] {
    for (auto& [own, message] : messages_)
      if (!message.is_send && message.peer == source && message.theirs == id)
        settle(message, cancelled_failure(peers_.rank(), message));
  });
}

}  // namespace dist::net::plain
