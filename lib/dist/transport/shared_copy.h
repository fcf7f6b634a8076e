// SharedCopy: one large message that both sides copy, block by block. The receiver begins in front and the
// sender, when it comes, at the back; they meet in the middle, or where the receiver is by then. So each
// comes to the same memory with every message of a buffer: a page of the other's must be mapped by the kernel
// when it is first touched, which can take longer than copying it many times.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "dist/core/copy_bytes.h"
#include "dist/transport/mailroom.h"
#include "dist/transport/spin.h"

namespace dist::net {

class SharedCopy {
 public:
  enum class Begin { front, back };
  SharedCopy(Claim& claim, std::byte* to, const std::byte* from, std::size_t bytes)
      : claim_(claim),
        to_(to),
        from_(from),
        bytes_(bytes),
        block_(block_of(bytes)),
        blocks_((bytes + block_ - 1) / block_) {}

  // Copies until no block is left for this side.
  void run(Begin at) const {
    for (auto block = take(at); block; block = take(at)) {
      const std::size_t begin = *block * block_;
      copy_bytes(to_ + begin, from_ + begin, std::min(block_, bytes_ - begin), bytes_);
      claim_.copied.fetch_add(1);
    }
  }
  bool is_done() const { return claim_.copied.load() == blocks_; }
  // For as long as one block may take. True: all is there.
  bool await_others() const {
    constexpr int looks = 10'000;
    for (int i = 0; i < looks; ++i) {
      if (is_done()) return true;
      relax_cpu();
    }
    return false;
  }

 private:
  static constexpr std::uint64_t one_at_back = std::uint64_t{1} << 32;  // of Claim::taken

  std::optional<std::size_t> take(Begin at) const {
    const std::size_t middle = (blocks_ + 1) / 2;
    std::uint64_t taken = claim_.taken.load();
    for (;;) {
      const std::size_t in_front = taken % one_at_back, at_back = taken / one_at_back;
      const bool is_front = at == Begin::front;
      const bool is_left = is_front ? in_front < (at_back == 0 ? blocks_ : middle)
                                    : at_back < blocks_ - std::max(middle, in_front);
      if (!is_left) return std::nullopt;
      if (claim_.taken.compare_exchange_weak(taken, taken + (is_front ? 1 : one_at_back)))
        return is_front ? in_front : blocks_ - 1 - at_back;
    }
  }

  // So that the two end at about the same time; large enough for a processor to read ahead.
  static std::size_t block_of(std::size_t bytes) {
    constexpr std::size_t least = 16 * 1024, most = 1024 * 1024;
    return std::clamp(bytes / 16, least, most);
  }

  Claim& claim_;
  std::byte* to_;
  const std::byte* from_;
  std::size_t bytes_, block_, blocks_;
};

}  // namespace dist::net
