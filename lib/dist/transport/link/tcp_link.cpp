// The link over TCP. put() writes frames and pieces to the socket; poll() reads with receive() and cuts the
// bytes into frames with parse() and take_frame(), except the data of large messages, which is read to where
// it belongs. A connection that breaks is noticed by reading, after everything that the peer still sent.
#include "dist/transport/link/tcp_link.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "dist/core/log.h"
#include "dist/transport/link/tcp_silence.h"

namespace dist::net {
namespace {

// The longest frame with its payload, and room to read ahead.
constexpr std::size_t buffer_bytes = 2 * (sizeof(Frame) + tcp_eager_bytes);
// How much is read beyond a piece of data, to find the next header: little, because what follows it is copied
// twice.
constexpr std::size_t look_ahead_bytes = 4096;
constexpr std::size_t discard_bytes = 16 * 1024;
// How many bytes are taken from one peer before it is the next one's turn.
constexpr std::size_t bytes_a_turn = std::size_t{1} << 20;

// The kernel lets buffers grow as a connection is used. A size that is asked for is there at once, but stays:
// so it is asked for only where the system grants all of it.
void enlarge_buffer(int fd, int option, const char* file_of_limit) {
  int limit = 0;
  std::ifstream(file_of_limit) >> limit;
  if (limit >= tcp_socket_bytes)
    setsockopt(fd, SOL_SOCKET, option, &tcp_socket_bytes, sizeof tcp_socket_bytes);
}

iovec iov(const void* data, std::size_t bytes) { return {const_cast<void*>(data), bytes}; }

}  // namespace

TcpLink::TcpLink(int peer, LinkEvents& events, UniqueFd socket)
    : Link(peer, events, nullptr), socket_(std::move(socket)), buffer_(buffer_bytes) {
  enlarge_buffer(fd(), SO_SNDBUF, "/proc/sys/net/core/wmem_max");
  enlarge_buffer(fd(), SO_RCVBUF, "/proc/sys/net/core/rmem_max");
  const unsigned int none = 0;  // a rank that computes for long closes its window but is alive: tcp_silence.h
  setsockopt(fd(), IPPROTO_TCP, TCP_USER_TIMEOUT, &none, sizeof none);
}

bool TcpLink::is_unreachable() const {
  tcp_info info{};
  socklen_t size = sizeof info;
  return getsockopt(fd(), IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && is_silent(info);
}

bool TcpLink::was_cut() const {
  constexpr std::array of_the_network{ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, EHOSTDOWN, ENETDOWN};
  return std::ranges::find(of_the_network, error_) != of_the_network.end();
}

bool TcpLink::put(OutFrame& out) {
  if (hung_up_) return false;
  const std::size_t total = sizeof(Frame) + out.frame.payload();
  while (out.sent < total) {
    const std::size_t header_left = out.sent < sizeof(Frame) ? sizeof(Frame) - out.sent : 0;
    const std::size_t payload_sent = out.sent - (sizeof(Frame) - header_left);
    std::array pieces{
        iov(reinterpret_cast<const std::byte*>(&out.frame) + sizeof(Frame) - header_left, header_left),
        iov(out.payload + payload_sent, out.frame.payload() - payload_sent)};
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    const auto sent = ::sendmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    // The socket is full or broken: a broken one is noticed by reading, after what the peer still sent.
    if (sent < 0) return false;
    out.sent += static_cast<std::size_t>(sent);
  }
  return true;
}

bool TcpLink::poll() {
  std::size_t taken = 0;
  while (taken < bytes_a_turn && !hung_up_ && !is_shut()) {
    const std::size_t got = receive();
    if (got == 0) break;
    taken += got;
    parse();
  }
  return taken > 0;
}

std::size_t TcpLink::receive() {
  std::array<std::byte, discard_bytes> discarded;
  std::array<iovec, 2> pieces{};
  int count = 0;
  std::size_t direct = 0;
  if (data_left_ > 0) {
    std::byte* target = events_.data_target(data_for_, data_left_);
    direct = target ? data_left_ : std::min(data_left_, discarded.size());
    pieces[count++] = iov(target ? target : discarded.data(), direct);
  }
  if (direct == data_left_) {  // the next header may follow
    if (begin_ > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
    const std::size_t room = buffer_.size() - end_;
    pieces[count++] = iov(buffer_.data() + end_, direct > 0 ? std::min(room, look_ahead_bytes) : room);
  }
  const auto got = ::readv(socket_.get(), pieces.data(), count);
  if (got <= 0) {
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    hung_up_ = true;
    error_ = got < 0 ? errno : 0;
    return 0;
  }
  const auto bytes = static_cast<std::size_t>(got);
  const std::size_t data = std::min(bytes, direct);
  if (data > 0) take_data(data);
  end_ += bytes - data;
  return bytes;
}

void TcpLink::take_data(std::size_t bytes) {
  data_left_ -= bytes;
  events_.on_data(data_for_, bytes);
}

void TcpLink::parse() {
  while (!hung_up_ && !is_shut()) {
    if (data_left_ > 0) {
      const std::size_t bytes = std::min(data_left_, end_ - begin_);
      if (bytes == 0) return;
      if (std::byte* target = events_.data_target(data_for_, bytes))
        std::memcpy(target, buffer_.data() + begin_, bytes);
      begin_ += bytes;
      take_data(bytes);
    } else if (!take_frame()) {
      return;
    }
  }
}

bool TcpLink::take_frame() {
  if (end_ - begin_ < sizeof(Frame)) return false;
  Frame frame;
  std::memcpy(&frame, buffer_.data() + begin_, sizeof frame);
  const bool is_data = frame.kind == FrameKind::data;
  if (frame.kind < FrameKind::eager || frame.kind > last_kind ||
      frame.payload() > (is_data ? tcp_piece_bytes : tcp_eager_bytes)) {
    log(LogLevel::error,
        "rank {} sent something that is not a message (kind {}, {} bytes); its connection is closed", peer_,
        static_cast<int>(frame.kind), frame.payload());
    hung_up_ = true;
    return false;
  }
  if (is_data) {
    begin_ += sizeof frame;
    data_for_ = frame.other();
    data_left_ = frame.payload();
    return true;
  }
  if (end_ - begin_ < sizeof frame + frame.payload()) return false;
  const std::byte* payload = buffer_.data() + begin_ + sizeof frame;
  begin_ += sizeof frame + frame.payload();
  events_.on_frame(peer_, frame, payload);
  return true;
}

}  // namespace dist::net
