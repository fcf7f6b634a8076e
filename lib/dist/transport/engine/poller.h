// What a sleeping rank waits on: its doorbell, and the descriptors of its links.
#pragma once

#include <array>
#include <span>

#include "dist/core/handles.h"

namespace dist::net {

class Poller {
 public:
  static constexpr int doorbell = -1;  // the value of Event::peer when the bell rang
  struct Event {
    int peer = 0;
  };

  explicit Poller(int doorbell_fd);
  void add(int fd, int peer);
  void want_write(int fd, int peer, bool wanted);
  void remove(int fd);
  // Blocks until something is ready, or for `milliseconds` (-1: no limit). Thread-safe.
  using Events = std::array<Event, 64>;
  std::span<const Event> wait(Events& events, int milliseconds) const;
  int fd() const { return epoll_.get(); }  // readable when something is ready

 private:
  UniqueFd epoll_;
};

}  // namespace dist::net
