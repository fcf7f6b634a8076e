// An operation as the code that moves a rank's messages sees it: its transfers, its failure, and its peers.
#pragma once

#include <chrono>
#include <cstdint>
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
  int peer = 0;  // global rank, or any_rank until a message has arrived
  std::byte* data = nullptr;
  std::uint64_t bytes = 0, moved = 0;
};

// What became of a peer.
struct PeerState {
  enum class Kind : std::uint8_t { present, left, failed };
  Kind kind = Kind::present;
  std::string how;  // failed: "died (its connection closed)", "gave up: ..."
};

inline constexpr std::size_t longest_reason = 1000;  // bytes in a goodbye

}  // namespace dist::net
