// Links over rings in shared memory. poll() takes frames in, a bounded number at a time; send_now(),
// ask_for_stamp() and is_answered() serve messages that meet at once (engine/quick_messages.h). At the end
// ThreadLink and ProcessLink: how each notices that its peer is gone, and ProcessLink's addresses of the
// peer's arena.
#include "dist/transport/link/shared_link.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/socket.h>

#include "dist/core/memory/arena.h"

namespace dist::net {
namespace {

// How many frames are taken from one peer before it is the next one's turn.
constexpr int frames_a_turn = 64;

}  // namespace

RingLink::RingLink(int peer, LinkEvents& events, LinkMemory* memory, Rooms rooms)
    : Link(peer, events, memory),
      rooms_(std::move(rooms)),
      in_(rooms_.mine->ring(rooms_.their_index), rooms_.mine->shape()),
      out_(rooms_.theirs->ring(rooms_.my_index), rooms_.theirs->shape()) {}

bool RingLink::put(const Frame& frame, const std::byte* payload) {
  if (!out_.put(frame, payload, rooms_.theirs->is_fenced())) return false;
  rooms_.theirs->wake();
  return true;
}

bool RingLink::send_now(const Frame& frame, const std::byte* payload) {
  return !is_shut() && !has_backlog() && put(frame, payload);
}

void RingLink::acknowledge(const Frame& message) {
  if (!message.has(flag_by_stamp) || is_shut() || !out_.answer(message, rooms_.theirs->is_fenced()))
    return Link::acknowledge(message);
  rooms_.theirs->wake();
}

void RingLink::ask_for_stamp(Frame& message) {
  if (asked_ != 0 || !asks_) return;
  asked_ = message.id;
  is_odd_ = !is_odd_;
  message.flags |= is_odd_ ? flag_by_stamp | flag_odd : flag_by_stamp;
}

void RingLink::ask_no_more(std::uint64_t id) {
  if (asked_ != id) return;
  is_odd_ = !is_odd_;
  asked_ = 0;
}

void RingLink::give_up_on(std::uint64_t id) {
  if (asked_ != id) return;
  asks_ = false;
  asked_ = 0;
}

bool RingLink::is_answered(std::uint64_t id) {
  if (asked_ != id || !has_answer()) return false;
  asked_ = 0;
  return true;
}

void RingLink::take() {
  if (in_.pop()) rooms_.theirs->wake();
}

bool RingLink::take_answer() {
  if (!has_answer()) return false;
  events_.on_frame(peer_, {.kind = FrameKind::ack, .id = std::exchange(asked_, 0)}, nullptr);
  return true;
}

bool RingLink::poll() {
  if (!in_.has_frame()) {
    if (in_.publish_if_wanted()) rooms_.theirs->wake();
    return take_answer();
  }
  for (int i = 0; i < frames_a_turn && in_.has_frame(); ++i) {
    take_answer();  // this frame was written over the answer
    const Frame& frame = in_.frame();
    // The ack or refusal is a frame: there was no room for a stamp, or the message did not fit its receive.
    if (frame.id == asked_ && (frame.kind == FrameKind::ack || frame.kind == FrameKind::refuse)) asked_ = 0;
    if (frame.kind == FrameKind::data) {
      if (std::byte* to = events_.data_target(frame.other(), frame.payload()))
        std::memcpy(to, in_.payload(), frame.payload());
      events_.on_data(frame.other(), frame.payload());
    } else {
      events_.on_frame(peer_, frame, in_.payload());
    }
    take();
  }
  take_answer();
  return true;
}

bool RingLink::look_before_sleep() {
  if (in_.publish()) rooms_.theirs->wake();
  return in_.has_frame() || has_answer();
}

bool ThreadLink::look_before_sleep() {
  const bool departed = rooms_.theirs->header().departed.load() != 0;  // before the last poll of the ring
  const bool stay_awake = RingLink::look_before_sleep();
  hung_up_ = departed && !stay_awake;
  return stay_awake;
}

void ProcessLink::on_ready() {
  char byte = 0;
  const auto got = ::recv(socket_.get(), &byte, 1, MSG_DONTWAIT);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) hung_up_ = true;
}

std::optional<std::uint64_t> PeerArena::address_of(const std::byte* data, std::size_t bytes) const {
  return Arena::local().offset_of(data, bytes);
}

std::byte* PeerArena::resolve(std::uint64_t address, std::size_t bytes) {
  if (!mapping_.data()) return nullptr;
  std::byte* const here = mapping_.data() + address;
  pages_.prefault(here, bytes);
  return here;
}

std::optional<std::ptrdiff_t> PeerArena::shift() const {
  if (!mapping_.data()) return std::nullopt;
  return static_cast<std::ptrdiff_t>(reinterpret_cast<std::uint64_t>(mapping_.data()) - base_);
}

}  // namespace dist::net
