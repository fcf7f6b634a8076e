// LivenessProbe: notices when a member of a group is gone, while this rank waits for a device and
// therefore not for messages. It posts a receive from each member for a message that is never sent.
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
  // `options` must name a channel of its own.
  LivenessProbe(Endpoint& endpoint, TransportOptions options);
  // Throws the error of a member that has gone, or of a group that was given up.
  void check();

 private:
  std::mutex mutex_;  // guards what follows
  std::unique_ptr<Transport> net_;
  std::array<std::byte, 1> nothing_{};
  std::vector<Request> requests_;  // after net_, so cancelled before it goes
};

// A death also shows in what it breaks, devices and connections, perhaps before it is known. So, before such
// an error is reported, calls `look`, which sleeps for a short time and throws if a rank has died, until a
// death would be known.
void await_death(const std::function<void()>& look);

}  // namespace dist
