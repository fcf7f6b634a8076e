// Link: the connection to one peer. It carries frames in order, and after them large messages in pieces.
// Used under the rank's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "dist/transport/link/frame.h"
#include "dist/transport/link/link_memory.h"
#include "dist/transport/link/shared_segment.h"

namespace dist::net {

class Link;
class RingLink;

// What links report (engine/transfers.h).
class LinkEvents {
 public:
  virtual void on_frame(int peer, const Frame& frame, const std::byte* payload) = 0;
  // `bytes` of the payload of transfer `id` have left its buffer.
  virtual void on_written(std::uint64_t id, std::uint64_t bytes) = 0;
  // Where the next bytes of the message for receive `id` go; nullptr: nowhere, the receive has ended.
  virtual std::byte* data_target(std::uint64_t id, std::uint64_t bytes) = 0;
  virtual void on_data(std::uint64_t id, std::uint64_t bytes) = 0;  // `bytes` more are at data_target()
  virtual void on_backlog(Link& link) = 0;                          // it has something to flush() later
  // The link to this peer is closed, as `how` says; empty: the peer left in order.
  virtual void on_lost(int peer, const std::string& how) = 0;

 protected:
  ~LinkEvents() = default;
};

class Link {
 public:
  // `memory` outlives this object, or is a part of it.
  Link(int peer, LinkEvents& events, LinkMemory* memory) : peer_(peer), events_(events), memory_(memory) {}
  virtual ~Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  int peer() const { return peer_; }
  virtual std::string_view kind() const = 0;  // "self", "thread", "shm", "tcp"
  virtual RingLink* ring() { return nullptr; }
  virtual std::size_t eager_limit() const = 0;

  // The payload stays where it is until events.on_written(owner); with owner 0 it is copied if it must wait.
  void send(const Frame& frame, const std::byte* payload = nullptr, std::uint64_t owner = 0);
  // Reports to the peer that its message was matched, if the message asked for that.
  virtual void acknowledge(const Frame& message) {
    if (message.has(flag_wants_ack)) send({.kind = FrameKind::ack, .id = message.id});
  }
  // Sends a message in pieces, as room becomes free, to the peer's receive `theirs`.
  void stream(std::uint64_t owner, const std::byte* data, std::uint64_t bytes, std::uint64_t theirs);
  // To be called before the buffer of transfer `owner` goes: nothing of it is read afterwards.
  void forget(std::uint64_t owner);
  bool flush();  // true when something was sent
  bool has_backlog() const { return !queue_.empty() || !streams_.empty(); }

  // Takes in what has arrived, a bounded amount. True when something had.
  virtual bool poll() = 0;
  // The last poll before this rank sleeps; reports to the peer all that was read. True: do not sleep.
  virtual bool look_before_sleep() { return false; }

  // A descriptor to wait on besides the doorbell; -1: none. on_ready() is called when it is ready.
  virtual int fd() const { return -1; }
  virtual void on_ready() {}
  virtual bool writes_to_fd() const { return false; }  // and reads from fd()
  bool has_hung_up() const { return hung_up_; }        // nothing more will arrive
  // Whether the peer's machine has not answered for long: it, or the network between, is down.
  virtual bool is_unreachable() const { return false; }
  // Whether it hung up because the network gave up, not because the peer's system closed the connection.
  virtual bool was_cut() const { return false; }
  void shut() noexcept;  // closes: drops what is queued, and a later send() does nothing
  bool is_shut() const { return shut_; }

  virtual SharedSegment* shared_segment() const { return nullptr; }  // the peer's
  LinkMemory* memory() const { return memory_; }  // nullptr: the two do not reach each other's memory

 protected:
  struct OutFrame {
    Frame frame;
    const std::byte* payload = nullptr;
    std::uint64_t owner = 0;
    std::vector<std::byte> owned;  // the payload, when it is not the sender's own buffer
    std::size_t sent = 0;          // bytes of frame and payload (TCP)
  };
  // True when the frame was sent.
  virtual bool put(OutFrame& out) = 0;
  virtual std::size_t piece_bytes() const = 0;
  virtual void close() noexcept {}

  int peer_;
  LinkEvents& events_;
  bool hung_up_ = false;

 private:
  struct Stream {
    std::uint64_t owner;
    const std::byte* data;
    std::uint64_t left;
    std::uint64_t theirs;
  };
  void enqueue(OutFrame out);
  void enqueue_piece();
  LinkMemory* const memory_;
  bool shut_ = false;
  // Lists: an empty one takes no memory, and a rank has a link to every other one.
  std::list<OutFrame> queue_;
  std::list<Stream> streams_;  // served in turn, a piece each, when the queue is empty
};

}  // namespace dist::net
