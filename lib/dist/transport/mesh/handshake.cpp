#include "dist/transport/mesh/handshake.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <sys/socket.h>
#include <sys/uio.h>

#include "dist/core/fail.h"

namespace dist::net {
namespace {

constexpr std::size_t most_descriptors = 4;

}  // namespace

bool Handshake::say(HandshakeMessage greeting, std::string_view token, std::span<const int> descriptors) {
  greeting.token_bytes = static_cast<std::uint32_t>(token.size());
  std::array pieces{iovec{&greeting, sizeof greeting}, iovec{const_cast<char*>(token.data()), token.size()}};
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = pieces.size();
  alignas(cmsghdr) std::array<char, CMSG_SPACE(most_descriptors * sizeof(int))> control{};
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  const auto bytes = static_cast<ssize_t>(sizeof greeting + token.size());
  return ::sendmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL) == bytes;
}

// Works as recv(2), and keeps the descriptors that come along.
long Handshake::receive(void* to, std::size_t bytes) {
  iovec piece{to, bytes};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(most_descriptors * sizeof(int))> control{};
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const auto got = ::recvmsg(fd_.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (got < 0) return got;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      descriptors_.emplace_back(fd);
    }
  }
  if ((message.msg_flags & MSG_CTRUNC) != 0)
    fail_errno(Errc::resource, EMFILE, "receiving another rank's shared memory");
  return got;
}

Handshake::State Handshake::listen() {
  for (;;) {
    const bool in_header = heard_ < sizeof greeting_;
    const std::size_t total = sizeof greeting_ + (in_header ? 0 : token_.size());
    if (!in_header && heard_ == total) return State::complete;
    char* to =
        in_header ? reinterpret_cast<char*>(&greeting_) + heard_ : token_.data() + heard_ - sizeof greeting_;
    const long got = receive(to, total - heard_);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return State::listening;
    if (got <= 0) return State::broken;
    heard_ += static_cast<std::size_t>(got);
    if (in_header && heard_ == sizeof greeting_) {
      if (greeting_.magic != HandshakeMessage::right_magic || greeting_.token_bytes > longest_token)
        return State::broken;
      token_.resize(greeting_.token_bytes);
    }
  }
}

}  // namespace dist::net
