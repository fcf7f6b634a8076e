// A transport between ranks that are threads of one process and keep their data on a device: a small version
// of the cuda backend. Everything is stream-ordered. isend() and irecv() mark where the caller's current
// stream is; when both sides of a message are known, the copy is enqueued on a stream of the receiving rank,
// after both marks; wait() makes the current stream wait for the copy. The host waits only for the peer's
// *call*, never for data: an event may be waited on only after it was recorded.
#pragma once

#include <chrono>
#include <functional>

#include "dist/core/deadline.h"
#include "dist/transport/transport.h"

namespace dist::test {

struct DeviceRanksOptions {
  Timeout timeout = std::chrono::seconds(20);  // for the peers' calls
  bool wait_for_copies = true;                 // false: a broken transport, to see that tests notice
};

// Calls rank_main on n threads, each with a stream of its own made current. Ranks share the cuda devices
// round robin. Rethrows the first error; the other ranks' waits end with Error{peer_failed} then.
void run_device_ranks(int n, const std::function<void(Transport& net, Device device)>& rank_main,
                      const DeviceRanksOptions& options = {});

}  // namespace dist::test
