// QuickMessages: messages for which the other rank is ready at the same moment. They need no op, no mailbox
// and no place among the transfers except a number. Used under the rank's lock.
#pragma once

#include <cstdint>

#include "dist/core/view.h"
#include "dist/transport/engine/transfer.h"
#include "dist/transport/message.h"

namespace dist::net {

class Connections;
class Peers;
class RingLink;
class Transfers;
class Waiting;

class QuickMessages {
 public:
  QuickMessages(Connections& connections, Peers& peers, Transfers& transfers, Waiting& waiting)
      : connections_(connections), peers_(peers), transfers_(transfers), waiting_(waiting) {}

  // True: the message was exchanged. False: nothing has happened, or `sent` waits for its answer.
  bool send(const TensorView& data, int peer, const MessageTerms& terms, Transfer*& sent);
  bool receive(const TensorView& data, int peer, const MessageTerms& terms);

 private:
  RingLink* ring_to(int peer);

  Connections& connections_;
  Peers& peers_;
  Transfers& transfers_;
  Waiting& waiting_;
  Op nobody_;                // stands in for the op that a transfer does not have yet
  std::uint32_t count_ = 0;  // of messages
};

}  // namespace dist::net
