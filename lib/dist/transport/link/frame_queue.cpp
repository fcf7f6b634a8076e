// The ring of frames. RingWriter::put() writes a frame and its payload if there is room, answer() leaves a
// stamp where the next frame will be; RingReader::pop() frees a slot, and publish() reports to the writer
// what was read.
#include "dist/transport/link/frame_queue.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "dist/core/round_up.h"
#include "dist/transport/engine/tuning.h"
#include "dist/transport/link/asymmetric_fence.h"
#include "dist/transport/link/prefetch_for_write.h"

namespace dist::net {
namespace {

constexpr std::uint64_t line = 64;  // bytes of a cache line

// Payloads are contiguous and start on a cache line: one that would wrap around starts at the beginning
// instead.
std::uint64_t start_of(std::uint64_t position, std::uint64_t bytes, std::uint32_t capacity) {
  position = round_up(position, line);
  const std::uint64_t offset = position % capacity;
  return offset + bytes > capacity ? position + capacity - offset : position;
}

// No frame has a number this high, and no message that is answered has the id 0.
constexpr std::uint64_t answer_stamp(std::uint64_t id) { return std::uint64_t{1} << 63 | id; }

RingControl* control_at(std::byte* memory) { return reinterpret_cast<RingControl*>(memory); }
RingSlot* slots_at(std::byte* memory) { return reinterpret_cast<RingSlot*>(memory + sizeof(RingControl)); }
std::byte* payload_at(std::byte* memory, const RingShape& shape) {
  return memory + sizeof(RingControl) + shape.slots * sizeof(RingSlot);
}

}  // namespace

std::size_t RingShape::bytes() const {
  return sizeof(RingControl) + slots * sizeof(RingSlot) + payload_bytes;
}

RingShape ring_shape(int peers) {
  const auto share = std::clamp(shared_segment_bytes / static_cast<std::size_t>(std::max(peers, 1)),
                                least_ring_bytes, largest_ring_bytes);
  RingShape shape;
  shape.slots = static_cast<std::uint32_t>(std::bit_floor(share / 8 / sizeof(RingSlot)));
  const std::size_t rest = share - sizeof(RingControl) - shape.slots * sizeof(RingSlot);
  shape.payload_bytes = static_cast<std::uint32_t>(rest / line * line);
  return shape;
}

RingWriter::RingWriter(std::byte* memory, RingShape shape)
    : control_(control_at(memory)),
      slots_(slots_at(memory)),
      payload_(payload_at(memory, shape)),
      shape_(shape),
      payload_end_(shape.slots) {}

bool RingWriter::has_room(std::uint64_t payload_end) const {
  return written_ - consumed_ < shape_.slots && payload_end - payload_freed_ <= shape_.payload_bytes;
}

void RingWriter::see_what_was_consumed() {
  consumed_ = control_->consumed.load();
  if (consumed_ > 0) payload_freed_ = payload_end_[(consumed_ - 1) & (shape_.slots - 1)];
}

bool RingWriter::put(const Frame& frame, const std::byte* payload, bool fenced) {
  const bool is_inline = frame.is_inline();
  const std::uint64_t outside = is_inline ? 0 : frame.payload();
  const std::uint64_t start =
      outside == 0 ? payload_written_ : start_of(payload_written_, outside, shape_.payload_bytes);
  if (!has_room(start + outside)) {
    control_->wants_space.store(1);
    see_what_was_consumed();
    if (!has_room(start + outside)) return false;
    control_->wants_space.store(0);
  }
  RingSlot& slot = slots_[written_ & (shape_.slots - 1)];
  slot.frame = frame;
  slot.frame.flags |= std::exchange(answered_, std::uint8_t{0});
  if (outside > 0)
    std::memcpy(payload_ + start % shape_.payload_bytes, payload, outside);
  else if (is_inline && frame.bytes > 0)
    std::memcpy(&slot.frame.address, payload, frame.bytes);
  payload_written_ = start + outside;
  payload_end_[written_ & (shape_.slots - 1)] = payload_written_;
  post(slot.stamp, ++written_, fenced);
  prefetch_for_write(slots_[written_ & (shape_.slots - 1)]);
  if (outside > 0)
    prefetch_for_write(
        payload_ + start_of(payload_written_, outside, shape_.payload_bytes) % shape_.payload_bytes,
        std::min<std::size_t>(outside, most_fetched_along));  // most likely the next payload
  return true;
}

bool RingWriter::answer(const Frame& message, bool fenced) {
  if (!has_room(payload_written_)) see_what_was_consumed();
  if (!has_room(payload_written_)) return false;
  answered_ = message.has(flag_odd) ? flag_answers | flag_answers_odd : flag_answers;
  post(slots_[written_ & (shape_.slots - 1)].stamp, answer_stamp(message.id), fenced);
  return true;
}

RingReader::RingReader(std::byte* memory, RingShape shape)
    : control_(control_at(memory)),
      slots_(slots_at(memory)),
      payload_(payload_at(memory, shape)),
      shape_(shape) {}

bool RingReader::has_answer(std::uint64_t id, bool is_odd) const {
  const std::uint64_t stamp = slot().stamp.load();
  if (stamp != read_ + 1) return stamp == answer_stamp(id);
  return frame().has(flag_answers) && frame().has(flag_answers_odd) == is_odd;
}

std::uint64_t RingReader::payload_start(std::uint64_t bytes) const {
  return start_of(payload_read_, bytes, shape_.payload_bytes);
}

void RingReader::fetch_payload(std::size_t bytes) const {
  if (bytes > inline_payload && bytes <= most_fetched_along)
    prefetch_for_read({payload_ + payload_start(bytes) % shape_.payload_bytes, bytes});
}

const std::byte* RingReader::payload() const {
  const Frame& now = frame();
  if (now.is_inline()) return reinterpret_cast<const std::byte*>(&now.address);
  return payload_ + payload_start(now.payload()) % shape_.payload_bytes;
}

bool RingReader::pop() {
  const Frame& now = frame();
  if (!now.is_inline() && now.payload() > 0) payload_read_ = payload_start(now.payload()) + now.payload();
  ++read_;
  // The writer is notified in batches, so that its copy of the counter's cache line mostly stays valid.
  const bool is_due = read_ - published_ >= shape_.slots / 4 ||
                      payload_read_ - payload_published_ >= shape_.payload_bytes / 4;
  return is_due ? publish() : publish_if_wanted();
}

bool RingReader::publish_if_wanted() {
  return published_ != read_ && control_->wants_space.load() != 0 && publish();
}

bool RingReader::publish() {
  if (published_ != read_) {
    published_ = read_;
    payload_published_ = payload_read_;
    control_->consumed.store(read_);
  }
  return control_->wants_space.load() != 0 && control_->wants_space.exchange(0) != 0;
}

}  // namespace dist::net
