// A transport between virtual ranks: n fibers in one thread, with mailboxes in plain memory and a virtual
// clock. It proves the seam: algorithms that run here run unchanged on every other Transport, and here their
// messages, bytes and rounds can be counted exactly. Deterministic: the same program gives the same schedule
// every time. (The simulator, with topologies, links and a checker, is separate; this is a small part of what
// it does.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "dist/transport/endpoint.h"
#include "dist/transport/transport.h"

namespace dist::test {

// When the network touches the buffers of a transfer. Both are allowed by the contract; a program that is
// right with both neither changes a send buffer before wait() nor relies on a receive buffer staying
// unchanged until wait().
enum class Touch : std::uint8_t {
  early,  // as soon as the data can move
  late,   // only in wait()
};

struct FiberOptions {
  SendMode mode = SendMode::rendezvous;
  Touch touch = Touch::early;
  std::vector<int> nodes = {};           // by rank: Transport::node_of; empty: all on one
  std::size_t stack_bytes = 256 * 1024;  // address space; pages cost memory when touched
};

struct RankTraffic {
  std::int64_t messages_sent = 0, messages_received = 0;
  std::int64_t bytes_sent = 0, bytes_received = 0;
  std::int64_t peak_scratch_bytes = 0;
  std::int64_t rounds = 0;  // this rank's clock when it ended
  std::set<int> sent_to, received_from;
};

struct FiberReport {
  std::vector<RankTraffic> ranks;
  std::int64_t rounds = 0;  // the latest clock
};

// Calls rank_main on n ranks and returns when all have ended. Time: a message holds the send port of its
// source and the receive port of its destination for one round, messages queue for ports in the order they
// could start, and all else takes no time. The rank with the earliest clock runs next (ties: the lowest
// rank).
//
// Receive buffers are filled with garbage when they are posted. Throws, after every fiber has ended:
// - the first rank's exception, as Error{its code} "rank 3: <its message>"; the others' waits end with
// peer_failed;
// - Error{timeout} "deadlock: ..." listing which rank waits for which, when no rank can go on;
// - Error{mismatch} for a message whose size is not its receive's;
// - Error{internal} for a message that no rank received or a Request dropped without wait().
// A rank that polls is_completed() for something that never happens is not found out.
FiberReport run_fibers(int n, const std::function<void(Transport& net)>& rank_main,
                       const FiberOptions& options = {});

}  // namespace dist::test
