// SharedCopy: one large message that both sides copy. The receiver begins at the front, block by block; once
// the sender has arrived, the receiver goes on to the middle, and the sender copies everything behind it
// (behind the receiver's current block if that is further on). From then on they do not meet before the end:
// a cache line that both wrote for every block would take as long as a block. And each touches the same
// memory for every message from a buffer: a page must be mapped by the kernel when it is first touched, which
// can take many times as long as copying it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "dist/core/copy_bytes.h"
#include "dist/transport/engine/spin.h"
#include "dist/transport/link/shared_segment.h"

namespace dist::net {

class SharedCopy {
 public:
  SharedCopy(Claim& claim, std::byte* to, const std::byte* from, std::size_t bytes)
      : claim_(claim),
        to_(to),
        from_(from),
        bytes_(bytes),
        block_(block_of(bytes)),
        blocks_((bytes + block_ - 1) / block_) {}

  // The receiver's part. True: the sender has arrived, and its part must be waited for.
  bool run_receiver() const {
    for (;;) {
      const std::uint64_t before = claim_.taken.fetch_add(1), taken = before & ~sender_came;
      if (taken == blocks_) return false;
      if (before != taken) {
        copy(taken, first_of_sender(taken));
        return true;
      }
      copy(taken, taken + 1);
    }
  }
  // The sender's part.
  void run_sender() const {
    const std::uint64_t taken = claim_.taken.fetch_or(sender_came);
    if (taken >= blocks_) return;  // more than blocks_: the receiver has found none left
    copy(first_of_sender(taken), blocks_);
    claim_.sender_done.store(1);
  }
  bool is_sender_done() const { return claim_.sender_done.load() != 0; }
  // Polls for some time, because both have about the same amount to copy. True: the sender's part is there.
  bool await_sender() const {
    constexpr int looks = 10'000;
    for (int i = 0; i < looks; ++i) {
      if (is_sender_done()) return true;
      relax_cpu();
    }
    return false;
  }

 private:
  static constexpr std::uint64_t sender_came = std::uint64_t{1} << 63;  // a bit of Claim::taken

  // The sender's first block, when the receiver had taken `taken` blocks before the sender came.
  std::uint64_t first_of_sender(std::uint64_t taken) const { return std::max(taken, (blocks_ + 1) / 2); }

  void copy(std::uint64_t first, std::uint64_t end) const {
    const std::size_t begin = std::min(first * block_, bytes_), stop = std::min(end * block_, bytes_);
    copy_bytes(to_ + begin, from_ + begin, stop - begin, bytes_);
  }

  // About what the receiver copies while its `share` frame is on the way to the sender.
  static std::size_t block_of(std::size_t bytes) {
    constexpr std::size_t least = 4096, most = 64 * 1024;
    return std::clamp(bytes / 64, least, most);
  }

  Claim& claim_;
  std::byte* to_;
  const std::byte* from_;
  std::size_t bytes_, block_;
  std::uint64_t blocks_;
};

}  // namespace dist::net
