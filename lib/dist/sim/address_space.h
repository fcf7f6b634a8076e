// AddressSpace: memory for the tensors of a simulation without values (sim::RunOptions::values). Memory that
// is never touched takes address space, but no pages. A heap of that size would be slow: it looks for a
// block that fits among all that are free, and a training step asks for the same sizes again and again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include <sys/mman.h>

#include "dist/core/round_up.h"

namespace dist::sim {

class AddressSpace {
 public:
  AddressSpace() = default;
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;
  ~AddressSpace() {
    if (live_ > 0) return;  // a tensor outlives its simulation
    for (const auto& [begin, bytes] : regions_) munmap(begin, bytes);
  }

  // Null: no address space.
  void* allocate(std::size_t bytes) {
    const std::size_t size = round_up(bytes, cache_line);
    std::vector<void*>& free = free_[size];
    if (free.empty()) {
      if (size > left_ && !grow(std::max(size, region)) && !grow(size)) return nullptr;
      free.push_back(next_);
      next_ += size, left_ -= size;
    }
    ++live_;
    void* const memory = free.back();
    free.pop_back();
    return memory;
  }
  void deallocate(void* memory, std::size_t bytes) noexcept {
    free_[round_up(bytes, cache_line)].push_back(memory);
    --live_;
  }
  // For memory that is freed after its simulation: it stays.
  static void release(void*, std::size_t) noexcept {}

 private:
  static constexpr std::size_t cache_line = 64, region = std::size_t{64} << 30;

  bool grow(std::size_t bytes) {
    void* const begin =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (begin == MAP_FAILED) return false;
    regions_.emplace_back(begin, bytes);
    next_ = static_cast<std::byte*>(begin), left_ = bytes;
    return true;
  }

  std::unordered_map<std::size_t, std::vector<void*>> free_;  // by size
  std::vector<std::pair<void*, std::size_t>> regions_;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0, live_ = 0;
};

}  // namespace dist::sim
