// A rank's shared segment: the memory that its peers on the same host map. It holds one inbound ring per
// peer, the flag that says that this rank sleeps, the claims on its large messages, and areas for work
// without messages. It is a memfd and an eventfd: nothing has a name in the file system, so nothing is left
// behind.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "dist/core/deadline.h"
#include "dist/core/handles.h"
#include "dist/transport/engine/tuning.h"
#include "dist/transport/link/asymmetric_fence.h"
#include "dist/transport/link/frame_queue.h"

namespace dist::net {

// A claim has a word, (generation << 2 | state), that says which side may touch the buffer of a large
// message: the reader takes it before it copies, the sender takes it back when it gives up. So a buffer is
// never freed during a copy, and a copy is never made of a freed buffer.
struct ClaimRef {
  std::uint64_t value = 0;  // generation << 16 | index; 0: none
  std::uint32_t index() const { return static_cast<std::uint32_t>(value & 0xffff); }
  std::uint64_t generation() const { return value >> 16; }
};

// The guard of a large message's buffer (see ClaimRef), and how far the buffer is copied where both sides
// copy it (shared_copy.h).
struct alignas(64) Claim {
  std::atomic<std::uint64_t> word;
  std::atomic<std::uint64_t> taken;        // blocks taken by the receiver; whether the sender came
  std::atomic<std::uint32_t> sender_done;  // 1: its part is copied
};

struct SharedSegmentHeader {
  alignas(64) std::atomic<std::uint32_t> sleeping;  // the owner waits for its doorbell
  std::atomic<std::uint32_t> fences;                // it fences all others first (asymmetric_fence.h)
  std::atomic<int> core;                            // the core on which it was last seen waiting (cores.h)
  // Until this time (steady_clock, ns) the owner's yields may lose a time slice to another program
  // (round_wait.cpp).
  std::atomic<std::int64_t> crowded_until;
  alignas(64) std::atomic<std::uint32_t> departed;  // the owner's endpoint is gone (ranks that are threads)
  std::atomic<std::uint32_t> left_in_order;         // set before it: the goodbye may have found no room
  Claim claims[claim_count];
};

class SharedSegment {
 public:
  // This rank's own segment, with room for `areas` groups that work without messages; Error{resource}.
  explicit SharedSegment(int rings, int areas = area_count);
  SharedSegment(UniqueFd memory, UniqueFd doorbell, int rings);  // a peer's, as received from it

  SharedSegmentHeader& header() const { return *reinterpret_cast<SharedSegmentHeader*>(mapping_.data()); }
  std::byte* ring(int index) const;
  Claim& claim(ClaimRef ref) const { return header().claims[ref.index()]; }
  std::byte* area(int index) const;  // 0 to areas() - 1; area_bytes of it, all zero at first
  int areas() const { return areas_; }
  RingShape shape() const { return shape_; }
  int rings() const { return rings_; }
  int memory_fd() const { return memory_.get(); }
  int doorbell_fd() const { return doorbell_.get(); }

  void ring_bell() noexcept;
  // Whether post() needs no fence for the owner to see what it stores.
  bool is_fenced() const noexcept {
    return registered_ && header().fences.load(std::memory_order_relaxed) != 0;
  }
  // Rings if the owner sleeps. What the owner is to see must have been stored before, by post()
  // (asymmetric_fence.h) or sequentially consistent.
  void wake() noexcept {
    if (header().sleeping.load() != 0 && header().sleeping.exchange(0) != 0) ring_bell();
  }
  void silence_bell() noexcept;                         // to be called by the owner, after it rang
  void close_memory_fd() noexcept { memory_.reset(); }  // the mapping stays

 private:
  std::size_t read_size();  // reads the size of a peer's; sets areas_
  const bool registered_ = is_fenced_by_sleepers();
  int rings_, areas_ = 0;
  RingShape shape_;
  UniqueFd memory_, doorbell_;
  Mapping mapping_;
};

// How many areas a rank can afford when `ranks` of this host map each other's shared segments: area_count,
// unless a limit on the address space or on the size of files (ulimit -v, -f) is tight.
int affordable_areas(int ranks);

// The sender's side of claims. Not synchronised.
class Claims {
 public:
  explicit Claims(SharedSegment& own);
  std::optional<ClaimRef> offer();  // nullopt: all are in use
  // True: no rank reads, or will read, the buffer. False: a copy is going on now.
  bool withdraw(ClaimRef claim);
  void release(ClaimRef claim);  // after the read or withdraw(): the word may be used again

 private:
  SharedSegmentHeader& header_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint64_t> generation_;
};

// The reader's side, on the sender's shared segment.
bool begin_copy(SharedSegment& sender, ClaimRef claim);  // false: the sender has given up
void end_copy(SharedSegment& sender, ClaimRef claim);

// Where ranks that are threads of one process find each other's shared segments.
class SharedSegmentExchange {
 public:
  // `visitors`: how many calls of find() will come.
  static void publish(std::uint64_t id, std::shared_ptr<SharedSegment> shared_segment, int visitors);
  static void renounce(std::uint64_t id);  // it will never be published, or not be visited any more
  // nullptr: it is not there yet. Error{peer_failed}: its owner called renounce().
  static std::shared_ptr<SharedSegment> find(std::uint64_t id);
};

}  // namespace dist::net
