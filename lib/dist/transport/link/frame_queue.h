// A single-producer single-consumer ring of frames in memory that both sides map: fixed 64-byte slots for
// headers, and a byte ring for payloads. The memory lies in the reader's shared segment and starts out
// zeroed.
//
// A slot's stamp is the number of its frame, so a reader that waits touches one cache line only, the very
// line the frame arrives in. Before there is a frame, the stamp may be an answer to a message of the reader:
// who has sent one and waits for the answer, then for a frame, waits for one cache line to come, not for two.
// Stamps (unless the reader fences them), `consumed` and `wants_space` are
// sequentially consistent: each side can set its own flag ("I sleep", "I want space"), look once more, and
// know that the other side sees the flag otherwise.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dist/transport/link/frame.h"

namespace dist::net {

struct RingShape {
  std::uint32_t slots = 0;          // a power of two
  std::uint32_t payload_bytes = 0;  // a multiple of 64
  std::size_t bytes() const;        // of memory, a multiple of 64
  // Whatever the writer's position, a payload up to this size fits into an empty ring, and some fit at once.
  std::uint32_t largest_payload() const { return payload_bytes / 3 / 64 * 64; }
};

// For a rank with this many peers on its host.
RingShape ring_shape(int peers);

struct RingControl {
  alignas(64) std::atomic<std::uint64_t> consumed;     // frames, written by the reader
  alignas(64) std::atomic<std::uint32_t> wants_space;  // written by the writer
};

struct alignas(64) RingSlot {
  std::atomic<std::uint64_t> stamp;
  Frame frame;
};
static_assert(sizeof(RingSlot) == 64 && std::atomic<std::uint64_t>::is_always_lock_free);

class RingWriter {
 public:
  RingWriter(std::byte* memory, RingShape shape);
  // False when there is no room; the reader then rings when it has made some. `fenced`: as of post()
  // (sleep_fence.h).
  bool put(const Frame& frame, const std::byte* payload, bool fenced = false);
  // Says that this message of the reader, which asked for it, was matched. False when there is no room.
  bool answer(const Frame& message, bool fenced);
  const RingShape& shape() const { return shape_; }

 private:
  bool has_room(std::uint64_t payload_end) const;
  void see_what_was_consumed();
  RingControl* control_;
  RingSlot* slots_;
  std::byte* payload_;
  RingShape shape_;
  std::uint64_t written_ = 0, consumed_ = 0;               // frames
  std::uint64_t payload_written_ = 0, payload_freed_ = 0;  // bytes, padding included
  std::vector<std::uint64_t> payload_end_;                 // of each slot's frame
  std::uint8_t answered_ = 0;                              // flags of the answer in the next slot
};

class RingReader {
 public:
  RingReader(std::byte* memory, RingShape shape);
  bool has_frame() const { return slot().stamp.load() == read_ + 1; }
  // Whether an answer to this message of the reader lies where the next frame will, or was there before it.
  // After this rank says that it sleeps, as has_frame().
  bool has_answer(std::uint64_t id, bool is_odd) const;
  // Where the next payload will most likely begin: fetches it while has_frame() is awaited.
  void fetch_payload(std::size_t bytes) const;
  // Valid until pop(), which has_frame() must have allowed.
  const Frame& frame() const { return slot().frame; }
  const std::byte* payload() const;
  // These return true when the writer waits for room and there is some now: ring its bell.
  bool pop();
  bool publish();            // tells the writer all that was read
  bool publish_if_wanted();  // the same, when the writer asked

 private:
  RingSlot& slot() const { return slots_[read_ & (shape_.slots - 1)]; }
  std::uint64_t payload_start(std::uint64_t bytes) const;
  RingControl* control_;
  RingSlot* slots_;
  std::byte* payload_;
  RingShape shape_;
  std::uint64_t read_ = 0, published_ = 0;                  // frames
  std::uint64_t payload_read_ = 0, payload_published_ = 0;  // bytes, padding included
};

}  // namespace dist::net
