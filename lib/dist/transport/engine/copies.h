// Copies: large messages within a host. The receiver copies them out of the sender's memory, which a claim
// guards (shared_segment.h); a sender that waits copies a part, too. Used under the rank's lock, which is
// released during a long copy.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "dist/transport/engine/leader_lock.h"
#include "dist/transport/engine/transfer.h"
#include "dist/transport/link/frame.h"
#include "dist/transport/link/link.h"
#include "dist/transport/link/shared_segment.h"

namespace dist::net {

class Connections;
class Peers;
class Transfers;
class Waiting;

class Copies {
 public:
  Copies(int rank, SharedSegment& own, Connections& connections, Peers& peers, Transfers& transfers,
         Waiting& waiting)
      : rank_(rank),
        connections_(connections),
        peers_(peers),
        transfers_(transfers),
        waiting_(waiting),
        claims_(own) {}

  // The receiver: run() will copy its message, which is at `source`.
  void add(Transfer& receive, ClaimRef claim, const std::byte* source);
  bool is_due() const { return !due_.empty(); }
  void run(Lock& lock);

  // The sender: a claim on its buffer, while peers may read it; nullopt: all are in use.
  std::optional<ClaimRef> offer() { return claims_.offer(); }
  void on_share(int peer, const Frame& frame);
  void on_read(Transfer& send);  // the peer has read all of it
  // Waits for a peer that is copying now, unless it is gone or seems stopped. True: no rank reads the buffer.
  bool take_back(Transfer& send, Link& peer);

 private:
  void copy(Lock& lock, Transfer& t);
  void copy_together(Lock& lock, Transfer& t, std::uint64_t target);
  void assist(Lock& lock, Transfer& t);

  const int rank_;
  Connections& connections_;
  Peers& peers_;
  Transfers& transfers_;
  Waiting& waiting_;
  Claims claims_;
  std::deque<std::uint64_t> due_;  // transfers whose data is to be copied
};

}  // namespace dist::net
