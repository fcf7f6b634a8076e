// DescriptorShortage: what the server does when the system has no descriptor for a new client. It pauses,
// because a client that leaves may free one; after a while it refuses new clients, and tells them why.
#pragma once

#include <string>

#include "dist/core/deadline.h"
#include "dist/core/handles.h"
#include "dist/store/socket.h"

namespace dist {

class DescriptorShortage {
 public:
  using Clock = Deadline::Clock;
  DescriptorShortage();
  // accept(2) has failed with `error` at the listener, which pauses now. `address`: the store's.
  void note(int listener, int error, const SocketAddress& address);
  void end() { since_ = Clock::time_point::min(); }  // a newcomer was accepted
  // When the listener should try again; time_point::max(): it does not pause.
  Clock::time_point next_try() const { return next_try_; }
  // Whether the pause is over; once for each pause.
  bool has_paused(Clock::time_point now);

 private:
  void turn_away(int listener, const std::string& why);

  UniqueFd spare_;  // closed to accept a newcomer and refuse it
  Clock::time_point since_ = Clock::time_point::min(), next_try_ = Clock::time_point::max();
};

}  // namespace dist
