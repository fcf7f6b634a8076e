// Transfers: the operations of one rank and their sends and receives. A message meets its receive here, or is
// kept until the receive is posted (matching.h); when a link reports that bytes have moved, its
// transfer goes on or ends. Used under the rank's lock.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "dist/core/view.h"
#include "dist/transport/engine/leader_lock.h"
#include "dist/transport/engine/matching.h"
#include "dist/transport/engine/transfer.h"
#include "dist/transport/link/link.h"

namespace dist::net {

class Connections;
class Copies;
class Peers;
class Waiting;

class Transfers final : public LinkEvents {
 public:
  Transfers(int rank, Connections& connections, Peers& peers, Copies& copies, Waiting& waiting)
      : rank_(rank), connections_(connections), peers_(peers), copies_(copies), waiting_(waiting) {}

  void admit(Op& op);                         // it begins
  void dismiss(Lock& lock, Op& op) noexcept;  // it ends, and gives up the transfers that are under way
  Transfer& send(Op& op, const TensorView& data, int peer);
  Transfer& receive(Op& op, const TensorView& data, int peer);  // or any_rank
  void settle(Transfer& t, Failure failure = {});               // it ends, with or without a failure
  // Forgets a transfer, whatever its stage: afterwards no thread or rank touches its buffer.
  void retire(Lock& lock, Transfer& t) noexcept;
  Transfer* find(std::uint64_t id) { return pool_.find(id); }
  Transfer* find(std::uint64_t id, bool is_send);  // nullptr, too, if it has ended

  // For quick_messages.h: a transfer that need not become known; whether a receive, or a message, waits.
  Transfer& make(Op& op, bool is_send, int peer, const TensorView& data) {
    return pool_.make(op, is_send, peer, data.data, data.bytes());
  }
  void release(Transfer& t) { pool_.release(t); }
  bool is_awaited(const MailboxKey& key) const { return matching_.is_open(key); }

  // For peers.h: fails the operations for which failure_of() returns a failure.
  void fail_ops(const std::function<Failure(const Op&)>& failure_of);
  bool end_those_that_need(int departed);  // true: there were some

  // Warns of a message that no rank received: when every rank is root of a broadcast, all of them end without
  // an error.
  void warn_of_unreceived() const;

  void on_frame(int peer, const Frame& frame, const std::byte* payload) override;
  void on_written(std::uint64_t id, std::uint64_t bytes) override;
  std::byte* data_target(std::uint64_t id, std::uint64_t bytes) override;
  void on_data(std::uint64_t id, std::uint64_t bytes) override;
  void on_backlog(Link& link) override;
  void on_lost(int peer, const std::string& how) override;

 private:
  void transmit(Transfer& t);
  void meet(Transfer& t, const Frame& message, int source, const std::byte* payload);
  void refuse(Transfer& t, const Frame& message, Failure failure);
  void keep_unexpected(int peer, const Frame& frame, const std::byte* payload);
  void on_accept(int peer, const Frame& frame);
  void on_ack(const Frame& frame);
  void on_refuse(int peer, const Frame& frame);
  void on_given_up(std::uint64_t id, bool is_send);
  void on_withdrawn(int peer, const Frame& frame);

  const int rank_;
  Connections& connections_;
  Peers& peers_;
  Copies& copies_;
  Waiting& waiting_;
  TransferPool pool_;
  Matching matching_;
  IntrusiveList<Op> ops_;
  bool gave_up_ = false;  // some transfer: parts of it may be left over
};

}  // namespace dist::net
