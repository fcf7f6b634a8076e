// Channel: blocking sends and receives of whole messages over a stream socket, with passed descriptors, a
// limit on the other side's silence, and an end by stop_token.
#include "dist/simulate/remote/channel.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include <sys/socket.h>
#include <sys/time.h>

#include "dist/core/fail.h"

namespace dist::sim {
namespace {

// Room for one passed descriptor.
struct Passing {
  static constexpr std::size_t length = CMSG_LEN(sizeof(int));
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
};

void attach(msghdr& header, Passing& passing, int fd) {
  header.msg_control = passing.room.data();
  header.msg_controllen = Passing::length;
  cmsghdr* const control = CMSG_FIRSTHDR(&header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(control), &fd, sizeof fd);
}

// All that came, so that the system does not close any of them in its own way.
std::vector<UniqueFd> detach(msghdr& header) {
  std::vector<UniqueFd> came;
  for (cmsghdr* control = CMSG_FIRSTHDR(&header); control; control = CMSG_NXTHDR(&header, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(control) + i * sizeof fd, sizeof fd);
      came.emplace_back(fd);
    }
  }
  return came;
}

// Room for as many descriptors as one message can carry (SCM_MAX_FD).
struct Arriving {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(253 * sizeof(int))> room{};
};

bool is_local_stream(int fd) {
  int domain = 0, type = 0;
  socklen_t size = sizeof domain;
  const auto asked = [&](int what, int& value) {
    return getsockopt(fd, SOL_SOCKET, what, &value, &size) == 0;
  };
  return asked(SO_DOMAIN, domain) && asked(SO_TYPE, type) && domain == AF_UNIX && type == SOCK_STREAM;
}

// A socket may want to linger in close() until its data has gone, for as long as it was told to.
void close_at_once(UniqueFd fd) {
  const linger never{1, 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &never, sizeof never);
}

// The interval at which a blocked side checks whether it must stop.
constexpr Timeout look_up = std::chrono::milliseconds(50);

// Limits one system call.
void limit_waiting(int fd, Timeout patience) {
  const auto us = std::chrono::ceil<std::chrono::microseconds>(patience).count();
  const timeval limit{us / 1'000'000, us % 1'000'000};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

}  // namespace

Channel::Channel(UniqueFd socket, std::string_view other, Timeout patience, std::stop_token stopped,
                 std::size_t longest)
    : socket_(std::move(socket)),
      other_(other),
      patience_(patience),
      stopped_(std::move(stopped)),
      longest_(longest) {
  if (patience_ != no_timeout || stopped_.stop_possible())
    limit_waiting(socket_.get(), std::min(patience_, look_up));
}

void Channel::go_on_or_fail(Clock::time_point since) const {
  if (errno == EINTR) return;
  if (errno != EAGAIN) fail(Errc::connection, "{} is gone ({})", other_, std::strerror(errno));
  if (stopped_.stop_requested()) fail(Errc::connection, "{} is gone (stopped)", other_);
  if (Clock::now() - since >= patience_)
    fail(Errc::connection, "{} has done nothing for {} s", other_,
         std::chrono::duration<double>(patience_).count());
}

void Channel::send(wire::Writer& message, ConstBytes bytes, int passed) {
  const Bytes frame = message.finish();
  std::array<iovec, 2> parts{{{const_cast<std::byte*>(frame.data()), frame.size()},
                              {const_cast<std::byte*>(bytes.data()), bytes.size()}}};
  msghdr header{};
  Passing passing;
  if (passed >= 0) attach(header, passing, passed);
  header.msg_iov = parts.data();
  header.msg_iovlen = parts.size();
  auto since = Clock::now();
  while (parts[0].iov_len + parts[1].iov_len > 0) {
    const ssize_t sent = sendmsg(socket_.get(), &header, MSG_NOSIGNAL);
    if (sent < 0) {
      go_on_or_fail(since);
      continue;
    }
    since = Clock::now();
    header.msg_control = nullptr;
    header.msg_controllen = 0;
    auto left = static_cast<std::size_t>(sent);
    for (iovec& part : parts) {
      const std::size_t taken = std::min(left, part.iov_len);
      part.iov_base = static_cast<char*>(part.iov_base) + taken;
      part.iov_len -= taken;
      left -= taken;
    }
  }
}

void Channel::read(std::span<std::byte> bytes) {
  auto since = Clock::now();
  while (!bytes.empty()) {
    iovec part{bytes.data(), bytes.size()};
    Arriving arriving;
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = arriving.room.data();
    header.msg_controllen = arriving.room.size();
    const ssize_t got = recvmsg(socket_.get(), &header, MSG_CMSG_CLOEXEC);
    if (got == 0) fail(Errc::connection, "{} is gone", other_);
    if (got < 0) {
      go_on_or_fail(since);
      continue;
    }
    since = Clock::now();
    keep(detach(header));
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

void Channel::keep(std::vector<UniqueFd> came) {
  for (UniqueFd& fd : came) {
    if (++came_ == 1 && is_local_stream(fd.get()))
      passed_ = std::move(fd);
    else
      close_at_once(std::move(fd));
  }
  if (came_ > 1 && passed_) close_at_once(std::move(passed_));
}

// Descriptors still in the queue of a socket are closed with it, and that may block: they are taken out
// first.
Channel::~Channel() {
  std::array<std::byte, 4096> rest;
  for (int i = 0; i < 4096; ++i) {
    iovec part{rest.data(), rest.size()};
    Arriving arriving;
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = arriving.room.data();
    header.msg_controllen = arriving.room.size();
    if (recvmsg(socket_.get(), &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) <= 0) return;
    for (UniqueFd& fd : detach(header)) close_at_once(std::move(fd));
  }
}

Bytes Channel::receive() {
  passed_.reset();
  came_ = 0;
  std::array<std::byte, wire::prefix_bytes> prefix;
  read(prefix);
  const std::size_t length = wire::frame_length(prefix);
  if (length > longest_) fail(Errc::connection, "a message has {} bytes; {} are allowed", length, longest_);
  Bytes message(length);
  read(message);
  return message;
}

void Channel::receive(std::span<std::byte> bytes) { read(bytes); }

std::pair<UniqueFd, UniqueFd> channel_pair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    fail(Errc::resource, "no more sockets ({}); ulimit -n says how many there may be", std::strerror(errno));
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace dist::sim
