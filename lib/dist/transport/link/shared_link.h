// Links over shared memory: to another process of this host, or to another thread of this process.
#pragma once

#include <memory>

#include "dist/core/handles.h"
#include "dist/core/memory/private_fd.h"
#include "dist/transport/link/frame_queue.h"
#include "dist/transport/link/link.h"

namespace dist::net {

// What both have in common: rings in the two shared segments, and the peer's doorbell.
class RingLink : public Link {
 public:
  struct Rooms {
    std::shared_ptr<SharedSegment> mine, theirs;
    int my_index = 0, their_index = 0;  // positions among this host's ranks: which ring is whose
  };
  RingLink(int peer, LinkEvents& events, LinkMemory* memory, Rooms rooms);

  std::size_t eager_limit() const override { return shared_eager_bytes; }
  RingLink* ring() override { return this; }
  bool poll() override;
  bool look_before_sleep() override;
  void acknowledge(const Frame& message) override;
  // Bypasses the queue, for messages that meet at once. False: the frame must wait.
  bool send_now(const Frame& frame, const std::byte* payload);
  // Asks the peer to answer this message by a stamp, unless it still owes such an answer; is_answered() then
  // reports it.
  void ask_for_stamp(Frame& message);
  bool is_answered(std::uint64_t id);
  void ask_no_more(std::uint64_t id);  // the message was not sent
  void give_up_on(std::uint64_t id);   // it was sent: the answer may still come at any time
  bool has_answer() const { return asked_ != 0 && in_.has_answer(asked_, is_odd_); }
  bool has_frame() const { return in_.has_frame(); }
  void fetch_payload(std::size_t bytes) const { in_.fetch_payload(bytes); }
  // The next frame, valid until take().
  const Frame& frame() const { return in_.frame(); }
  const std::byte* payload() const { return in_.payload(); }
  void take();
  SharedSegment* shared_segment() const override { return rooms_.theirs.get(); }

 protected:
  bool put(OutFrame& out) override { return put(out.frame, out.payload); }
  std::size_t piece_bytes() const override { return out_.shape().largest_payload(); }

  Rooms rooms_;

 private:
  bool put(const Frame& frame, const std::byte* payload);
  bool take_answer();
  RingReader in_;
  RingWriter out_;
  std::uint64_t asked_ = 0;  // the message that the peer answers by a stamp; 0: none
  bool is_odd_ = false;      // it is the first, third, ... message that asked
  bool asks_ = true;         // false: a late answer could be written over another
};

// The link to a thread of this process.
class ThreadLink final : public RingLink {
 public:
  ThreadLink(int peer, LinkEvents& events, Rooms rooms)
      : RingLink(peer, events, &same_memory_, std::move(rooms)) {}
  std::string_view kind() const override { return "thread"; }
  bool look_before_sleep() override;

 private:
  SameMemory same_memory_;
};

// The link to another process. The unix socket by which they met stays open: it closes when the peer ends.
class ProcessLink final : public RingLink {
 public:
  ProcessLink(int peer, LinkEvents& events, Rooms rooms, PeerArena arena, UniqueFd socket)
      : RingLink(peer, events, &arena_, std::move(rooms)),
        arena_(std::move(arena)),
        socket_(std::move(socket)) {}
  std::string_view kind() const override { return "shm"; }
  int fd() const override { return socket_.get(); }
  void on_ready() override;

 private:
  void close() noexcept override { socket_.reset(); }
  PeerArena arena_;
  PrivateFd socket_;
};

}  // namespace dist::net
