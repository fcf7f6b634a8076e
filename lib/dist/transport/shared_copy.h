// SharedCopy: one large message that both sides copy, block by block, whoever is free. One begins in front
// and one at the back: so each comes to the same memory with every message of a buffer, and maps few pages of
// the other's, each of which the kernel must map when it is first touched.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "dist/core/copy_bytes.h"
#include "dist/transport/mailroom.h"
#include "dist/transport/spin.h"

namespace dist::net {

class SharedCopy {
 public:
  enum class Begin { front, back };
  SharedCopy(Claim& claim, std::byte* to, const std::byte* from, std::size_t bytes)
      : claim_(claim), to_(to), from_(from), bytes_(bytes), block_(block_of(bytes)) {}

  // Copies until every block is taken.
  void run(Begin at) const {
    const std::size_t blocks = (bytes_ + block_ - 1) / block_;
    for (;;) {
      const std::uint64_t taken = claim_.taken.fetch_add(at == Begin::front ? 1 : one_from_back);
      const std::size_t in_front = taken % one_from_back, at_back = taken / one_from_back;
      if (in_front + at_back >= blocks) return;
      const std::size_t begin = (at == Begin::front ? in_front : blocks - 1 - at_back) * block_;
      copy_bytes(to_ + begin, from_ + begin, std::min(block_, bytes_ - begin), bytes_);
      claim_.copied.fetch_add(1);
    }
  }
  bool is_done() const { return claim_.copied.load() * block_ >= bytes_; }
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
  static constexpr std::uint64_t one_from_back = std::uint64_t{1} << 32;  // of Claim::taken
  // So that the two end at about the same time; large enough for a processor to read ahead.
  static std::size_t block_of(std::size_t bytes) {
    constexpr std::size_t least = 16 * 1024, most = 1024 * 1024;
    return std::clamp(bytes / 16, least, most);
  }

  Claim& claim_;
  std::byte* to_;
  const std::byte* from_;
  std::size_t bytes_, block_;
};

}  // namespace dist::net
