// LivenessProbe: tells whether all members of a group are still there, while this rank waits for a device and
// so not for messages. It is a receive from each of them of something that they never send.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "dist/transport/endpoint.h"

namespace dist {

// Thread-safe.
class LivenessProbe {
 public:
  // On a channel of its own.
  LivenessProbe(Endpoint& endpoint, TransportOptions options);
  // Throws the error of a member that has gone, or of a group that was given up.
  void check();

 private:
  std::mutex mutex_;  // of what follows
  std::unique_ptr<Transport> net_;
  std::array<std::byte, 1> nothing_{};
  std::vector<Request> requests_;  // after net_: cancelled first
};

// A death also shows in what it breaks, devices and connections, perhaps before it is known. So before an
// error of theirs is told: calls `look`, which rests a little and throws the death, until it must be known.
void await_death(const std::function<void()>& look);

}  // namespace dist
