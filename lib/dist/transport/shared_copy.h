// SharedCopy: one large message that both sides copy, block by block, whoever is free.
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
  SharedCopy(Claim& claim, std::byte* to, const std::byte* from, std::size_t bytes)
      : claim_(claim), to_(to), from_(from), bytes_(bytes), block_(block_of(bytes)) {}

  // Copies until every block is taken.
  void run() const {
    for (;;) {
      const std::size_t begin = claim_.taken.fetch_add(1) * block_;
      if (begin >= bytes_) return;
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
