#include "dist/transport/scratch_cache.h"

#include <algorithm>
#include <bit>
#include <new>

#include "dist/core/memory/arena.h"
#include "dist/transport/engine/tuning.h"

namespace dist::net {
namespace {

constexpr std::size_t least = 256;  // bytes
std::size_t class_of(std::size_t bytes) {
  return static_cast<std::size_t>(std::bit_width(std::max(bytes, least) - 1));
}

}  // namespace

ScratchCache::~ScratchCache() {
  for (auto& list : free_)
    for (std::byte* memory : list) Arena::local().deallocate(memory);
}

std::byte* ScratchCache::take(std::size_t bytes) {
  const std::size_t size_class = class_of(bytes);
  {
    std::lock_guard lock(mutex_);
    auto& list = free_[size_class];
    if (!list.empty()) {
      std::byte* memory = list.back();
      list.pop_back();
      kept_ -= std::size_t{1} << size_class;
      return memory;
    }
  }
  return static_cast<std::byte*>(Arena::local().allocate(std::size_t{1} << size_class));
}

void ScratchCache::give(std::byte* memory, std::size_t bytes) noexcept {
  const std::size_t size = std::size_t{1} << class_of(bytes);
  {
    std::lock_guard lock(mutex_);
    auto& list = free_[class_of(bytes)];
    if (kept_ + size <= scratch_cache_bytes) {
      try {
        list.push_back(memory);
        kept_ += size;
        return;
      } catch (const std::bad_alloc&) {
        // Then it is not kept.
      }
    }
  }
  Arena::local().deallocate(memory);
}

}  // namespace dist::net
