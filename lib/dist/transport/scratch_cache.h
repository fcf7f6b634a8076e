// Scratch memory, kept for the next operation that needs as much. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <vector>

namespace dist::net {

class ScratchCache {
 public:
  ScratchCache() = default;
  ~ScratchCache();
  ScratchCache(const ScratchCache&) = delete;
  ScratchCache& operator=(const ScratchCache&) = delete;

  std::byte* take(std::size_t bytes);                        // arena memory, or Error{resource}
  void give(std::byte* memory, std::size_t bytes) noexcept;  // `bytes`: the same as in take()

 private:
  std::mutex mutex_;
  std::array<std::vector<std::byte*>, 64> free_;  // by the power of two of their size
  std::size_t kept_ = 0;                          // bytes that are kept
};

}  // namespace dist::net
