// The sentences of the transport's errors: which rank, what it did, how far it got, and what to check.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dist/transport/op.h"

namespace dist::net {

// What the other side passed.
struct Misfit {
  std::uint32_t opcode = 0;
  std::uint64_t bytes = 0;
  std::uint64_t elements = 0;  // as in Channel::elements
};

// A message of a collective that no rank received.
struct Unreceived {
  int source = 0;
  std::uint32_t opcode = 0;
  std::uint64_t tag = 0;
};

Failure timeout_failure(int rank, const TransferFacts& t);
// `first`: the failure that this rank noticed first ("rank 2 died ..."). A rank of another group may have
// been the first to die, and `peer` because of it. `departed` had left the job in order: a rank that dies may
// have been waiting for one of them.
Failure peer_failure(int rank, const Op& op, int peer, const PeerState& state, const std::string& first,
                     const std::vector<int>& departed);
Failure peer_left_failure(int rank, const TransferFacts& t);  // t.peer left, or all possible senders did
Failure cancelled_failure(int rank, const TransferFacts& t);
Failure algorithm_failure(int rank, const Op& op, int peer);  // the peer uses another algorithm
// `message`, of a collective that has ended here, was never received.
std::string describe_unreceived(int rank, const Unreceived& message);
Failure unreceived_failure(int rank, const Op& op, const Unreceived& message);
// The peer calls the same collective, but the one before it differed.
Failure earlier_failure(int rank, const Op& op, int peer, std::uint32_t theirs, std::uint32_t mine);
Failure aborted_failure(int rank, const Op& op, const std::string& reason);
// What does not fit the receive t, seen from the receiver, and seen from the sender (t is null when its send
// was buffered and has ended).
Failure misfit_at_receiver(int rank, const TransferFacts& t, const Misfit& message, int sender);
Failure misfit_at_sender(int rank, const Op& op, const TransferFacts* t, const Misfit& refusal, int receiver);

}  // namespace dist::net
