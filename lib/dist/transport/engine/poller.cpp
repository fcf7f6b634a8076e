#include "dist/transport/engine/poller.h"

#include <algorithm>
#include <cerrno>

#include <sys/epoll.h>

#include "dist/core/fail.h"

namespace dist::net {
namespace {

epoll_event interest(int peer, bool writes) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP | (writes ? EPOLLOUT : 0u);
  event.data.fd = peer;
  return event;
}

}  // namespace

Poller::Poller(int doorbell_fd) : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!epoll_) fail_errno(Errc::resource, errno, "making an event queue (epoll)");
  add(doorbell_fd, doorbell);
}

void Poller::add(int fd, int peer) {
  epoll_event event = interest(peer, false);
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    fail_errno(Errc::resource, errno, "watching a connection (epoll)");
}

void Poller::want_write(int fd, int peer, bool wanted) {
  epoll_event event = interest(peer, wanted);
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void Poller::remove(int fd) { ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

std::span<const Poller::Event> Poller::wait(Events& events, int milliseconds) const {
  std::array<epoll_event, std::tuple_size_v<Events>> raw;
  const int ready = ::epoll_wait(epoll_.get(), raw.data(), static_cast<int>(raw.size()), milliseconds);
  if (ready < 0 && errno != EINTR)
    fail_errno(
        Errc::resource, errno,
        "waiting for messages (epoll); does the program close descriptors that it did not open (closefrom, a "
        "loop over close)?");
  for (int i = 0; i < ready; ++i)
    events[static_cast<std::size_t>(i)] = {raw[static_cast<std::size_t>(i)].data.fd};
  return {events.data(), static_cast<std::size_t>(std::max(ready, 0))};
}

}  // namespace dist::net
