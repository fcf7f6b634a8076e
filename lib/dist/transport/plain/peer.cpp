#include "dist/transport/plain/peer.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/store/socket.h"

namespace dist::net::plain {

void Peer::put(Header header, Payload payload) {
  header.payload = static_cast<std::uint32_t>(payload.size());
  if (sent_ > buffer_bytes)
    out_.erase(out_.begin(), out_.begin() + static_cast<long>(std::exchange(sent_, 0)));
  const auto* bytes = reinterpret_cast<const std::byte*>(&header);
  out_.insert(out_.end(), bytes, bytes + sizeof header);
  out_.insert(out_.end(), payload.begin(), payload.end());
  if (socket) flush();
}

void Peer::flush() {
  while (sent_ < out_.size()) {
    const auto n =
        ::send(socket.get(), out_.data() + sent_, out_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) break;  // broken: noticed by reading, after what the peer still sent
    sent_ += static_cast<std::size_t>(n);
  }
  out_.clear();
  sent_ = 0;
}

bool Peer::read(const Take& take) {
  if (!socket) {  // the peer is this rank itself
    if (out_.empty()) return false;
    in_ = std::exchange(out_, {});
  } else {
    std::array<std::byte, piece_bytes> chunk;
    const auto n = ::recv(socket.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) hung_up = true;
    if (n <= 0) return false;
    in_.insert(in_.end(), chunk.begin(), chunk.begin() + n);
  }
  parse(take);
  return true;
}

void Peer::parse(const Take& take) {
  std::size_t begin = 0;
  Header header;
  while (in_.size() - begin >= sizeof header) {
    std::memcpy(&header, in_.data() + begin, sizeof header);
    if (header.kind < Kind::eager || header.kind > Kind::death_notice || header.payload > piece_bytes) {
      hung_up = true;  // not a frame: this connection cannot be used any more
      break;
    }
    if (in_.size() - begin < sizeof header + header.payload) break;
    take(header, std::span(in_).subspan(begin + sizeof header, header.payload));
    begin += sizeof header + header.payload;
  }
  in_.erase(in_.begin(), in_.begin() + static_cast<long>(begin));
}

Peers::Peers(int rank, std::vector<UniqueFd> sockets)
    : rank_(rank), bell_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (!bell_) fail_errno(Errc::resource, errno, "making an eventfd");
  for (UniqueFd& socket : sockets) peers_.emplace_back().socket = std::move(socket);
}

void Peers::tell_all(const Header& header, const std::string& text) {
  for (Peer& each : peers_)
    if (each.socket) each.put(header, std::as_bytes(std::span(text)));
  ring();
}

void Peers::wait(std::unique_lock<std::mutex>& lock) {
  std::vector<pollfd> entries{{bell_.get(), POLLIN, 0}};
  for (const Peer& each : peers_)
    if (each.socket)
      entries.push_back(
          {each.socket.get(), static_cast<short>(each.unsent() > 0 ? POLLIN | POLLOUT : POLLIN), 0});
  lock.unlock();
  ::poll(entries.data(), entries.size(), -1);
  std::uint64_t rings = 0;
  static_cast<void>(::read(bell_.get(), &rings, sizeof rings));
  lock.lock();
}

void Peers::ring() {
  constexpr std::uint64_t one = 1;
  static_cast<void>(::write(bell_.get(), &one, sizeof one));
}

void Peers::close(Deadline patience) {
  for (Peer& each : peers_) {
    while (each.socket && each.unsent() > 0 && wait_ready(each.socket.get(), POLLOUT, patience)) each.flush();
    if (each.socket)
      ::shutdown(each.socket.get(), SHUT_WR);  // a close with unread bytes would take the goodbye back
    while (each.socket && each.read([](const Header&, Payload) {})) {
    }
    each.socket.reset();
  }
}

}  // namespace dist::net::plain
