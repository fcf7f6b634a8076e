// Peer: the other end of one socket, frames out, frames in. Peers: those of all ranks, and the bell that
// wakes the thread that polls their sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "dist/core/handles.h"
#include "dist/transport/op.h"

namespace dist::net::plain {

inline constexpr std::size_t eager_bytes = 32 * 1024;    // a larger message is offered first
inline constexpr std::size_t piece_bytes = 64 * 1024;    // of an accepted message in one frame
inline constexpr std::size_t buffer_bytes = 256 * 1024;  // accepted messages that wait to be written

enum class Kind : std::uint8_t {
  eager = 1,     // a message with its payload
  offer,         // a message without its payload: its sender waits for `accept`
  accept,        // answers the offer `id`: send it to the receive `other`
  data,          // a piece for the receive `other`
  ack,           // the eager message `id` has met its receive
  refuse,        // the message `id` met a receive that it does not fit
  withdraw,      // the sender gave up its message `id`
  drop,          // the receiver gave up the message `id`
  goodbye,       // this rank leaves; the payload is the reason, empty when all is well
  death_notice,  // the rank `id` died, as the payload says; empty: it left, and an operation
                 // of the sender failed because of it
};

struct Header {
  Kind kind{};
  bool point_to_point = false;
  bool wants_ack = false;
  std::uint32_t context = 0, opcode = 0;
  std::uint32_t payload = 0;  // the number of bytes that follow
  std::uint64_t tag = 0;
  std::uint64_t bytes = 0;     // size of the whole message
  std::uint64_t elements = 0;  // as Channel::elements
  std::uint64_t id = 0;        // the sender's number of the message
  std::uint64_t other = 0;     // the receiver's number of it
};

using Payload = std::span<const std::byte>;

struct Peer {
  using Take = std::function<void(const Header&, Payload)>;

  UniqueFd socket;                    // none: this rank itself, or a rank that is gone
  std::deque<std::uint64_t> streams;  // sends that the peer accepted and that are not written yet
  bool hung_up = false;

  // Writes as much as the socket accepts, and keeps the rest for flush().
  void put(Header header, Payload payload = {});
  void flush();
  std::size_t unsent() const { return out_.size() - sent_; }
  // Reads what is there, and calls take() for every whole frame. False: nothing was there.
  bool read(const Take& take);

 private:
  void parse(const Take& take);

  std::vector<std::byte> out_, in_;
  std::size_t sent_ = 0;  // the part of out_ that was sent
};

// By rank. Used under the rank's lock, apart from ring().
class Peers {
 public:
  Peers(int rank, std::vector<UniqueFd> sockets);
  int rank() const { return rank_; }
  int size() const { return static_cast<int>(peers_.size()); }
  Peer& operator[](int rank) { return peers_[static_cast<std::size_t>(rank)]; }
  void tell_all(const Header& header, const std::string& text);

  // Waits, without the lock, until a socket is ready or the bell has rung.
  void wait(std::unique_lock<std::mutex>& lock);
  void ring();
  void close(Deadline patience);  // writes what is left, and closes all sockets

 private:
  const int rank_;
  std::deque<Peer> peers_;
  UniqueFd bell_;  // an eventfd
};

}  // namespace dist::net::plain
