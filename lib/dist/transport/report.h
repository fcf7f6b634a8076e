// The sentences of the transport's errors: which rank, what it did, how far it got, and what to check.
#pragma once

#include <chrono>
#include <string>

#include "dist/core/error.h"
#include "dist/transport/endpoint.h"

namespace dist::net {

struct Mailbox;

// The failure of one operation or one transfer: what wait() throws.
struct Failure {
  Errc code = Errc::internal;
  std::string text;  // empty: no failure
  explicit operator bool() const { return !text.empty(); }
};
[[noreturn]] inline void raise(const Failure& failure) { throw Error(failure.code, failure.text); }

inline constexpr std::size_t longest_reason = 1000;  // bytes in a goodbye

// An operation that was opened: what its transfers have in common.
struct Op {
  TransportOptions options;
  int group_rank = 0;
  Mailbox* box = nullptr;
  std::uint64_t transfers = 0;                    // the number of transfers under way
  Failure failure;                                // of every transfer from now on
  std::chrono::steady_clock::time_point since{};  // when it began, or began to wait
  Op *next = nullptr, *prev = nullptr;

  const Channel& channel() const { return options.channel; }
  bool has_member(int rank) const { return options.members.contains(rank); }
};

// What the sentences say about a send or a receive.
struct TransferFacts {
  Op* op = nullptr;
  bool is_send = false;
  int peer = 0;  // global rank, or any_rank until a message has come
  std::byte* data = nullptr;
  std::uint64_t bytes = 0, moved = 0;
};

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

// What became of a peer.
struct PeerState {
  enum class Kind : std::uint8_t { present, left, failed };
  Kind kind = Kind::present;
  std::string how;  // failed: "died (its connection closed)", "gave up: ..."
};

Failure timeout_failure(int rank, const TransferFacts& t);
// `first`: the failure that this rank noticed first ("rank 2 died ..."). A rank of another group may have
// been the first to die, and `peer` by that. `departed` had left the job in order: a rank that dies may have
// been waiting for one of them.
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
