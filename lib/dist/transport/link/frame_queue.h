// A single-producer single-consumer ring of frames in memory that both sides map: fixed 64-byte slots for
// headers, and a byte ring for payloads. The memory is in the reader's shared segment and is zeroed at the
// start.
//
// A slot's stamp is the number of its frame, so a reader that waits touches one cache line only, the very
// line in which the frame arrives. Before there is a frame, the stamp may be an answer to a message of the
// reader: a rank that has sent one, and waits for the answer and then for a frame, waits for one cache line
// instead of two. Stamps (unless the reader fences them), `consumed` and `wants_space` are sequentially
// consistent: each side can set its own flag ("I sleep", "I want space"), poll once more, and know that
// otherwise the other side sees the flag.
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
  // A payload up to this size fits into an empty ring wherever the writer is, and several of them fit at
  // once.
  std::uint32_t largest_payload() const { return payload_bytes / 3 / 64 * 64; }
};

// The shape for a rank with this many peers on its host.
RingShape ring_shape(int peers);

struct RingControl {
  alignas(64) std::atomic<std::uint64_t> consumed;     // counts frames; written by the reader
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
  // False when there is no room; the reader then rings when it has made some. `fenced`: as in post()
  // (asymmetric_fence.h).
  bool put(const Frame& frame, const std::byte* payload, bool fenced = false);
  // Reports to the reader that this message, which asked for an answer, was matched. False when there is no
  // room.
  bool answer(const Frame& message, bool fenced);
  const RingShape& shape() const { return shape_; }

 private:
  bool has_room(std::uint64_t payload_end) const;
  void see_what_was_consumed();
  RingControl* control_;
  RingSlot* slots_;
  std::byte* payload_;
  RingShape shape_;
  std::uint64_t written_ = 0, consumed_ = 0;               // count frames
  std::uint64_t payload_written_ = 0, payload_freed_ = 0;  // count bytes, including padding
  std::vector<std::uint64_t> payload_end_;                 // by slot: where its frame's payload ends
  std::uint8_t answered_ = 0;                              // the flags of the answer in the next slot
};

class RingReader {
 public:
  RingReader(std::byte* memory, RingShape shape);
  bool has_frame() const { return slot().stamp.load() == read_ + 1; }
  // Whether this message of the reader has been answered: the answer is in the slot of the next frame, or was
  // there and a frame has replaced it.
  // Sequentially consistent with this rank's "I sleep", as has_frame() is.
  bool has_answer(std::uint64_t id, bool is_odd) const;
  // Prefetches the place where the next payload most likely begins, while has_frame() is awaited.
  void fetch_payload(std::size_t bytes) const;
  // Valid until pop(); has_frame() must have returned true.
  const Frame& frame() const { return slot().frame; }
  const std::byte* payload() const;
  // These return true when the writer waits for room and there is some now: then ring its bell.
  bool pop();
  bool publish();            // reports to the writer all that was read
  bool publish_if_wanted();  // the same, if the writer asked for it

 private:
  RingSlot& slot() const { return slots_[read_ & (shape_.slots - 1)]; }
  std::uint64_t payload_start(std::uint64_t bytes) const;
  RingControl* control_;
  RingSlot* slots_;
  std::byte* payload_;
  RingShape shape_;
  std::uint64_t read_ = 0, published_ = 0;                  // count frames
  std::uint64_t payload_read_ = 0, payload_published_ = 0;  // count bytes, including padding
};

}  // namespace dist::net
