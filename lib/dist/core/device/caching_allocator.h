// CachingAllocator: device memory that was freed serves the next tensor, because asking the driver for memory
// takes as long as many kernels and makes all streams wait. Tensors are in large pieces, each of which a peer
// maps whole and once. It needs DeviceApi alone, so the fake device tests it.
//
// A freed block may still be in use by work that was enqueued earlier. It is handed out again once the events
// that were recorded on the device's streams at that moment have been reached, or at once if the only stream
// with such work is the one that it is handed out for.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "dist/core/device.h"
#include "dist/core/memory/block_map.h"

namespace dist {

// Serves one device. Thread-safe.
class CachingAllocator {
 public:
  static constexpr std::size_t piece_bytes = std::size_t{32} << 20;  // a piece for many tensors
  static constexpr std::size_t own_piece = piece_bytes / 2;  // larger tensors have a piece of their own

  // Where pieces come from. `take` throws Error{resource}; no stream uses what is given back.
  struct Source {
    std::function<void*(std::size_t bytes)> take;
    std::function<void(void* base)> give_back;
  };
  // `api` (for its events) must outlive this.
  CachingAllocator(DeviceApi& api, Device device, Source source);
  ~CachingAllocator();  // gives all pieces back, once their last use is over
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  // Returns memory for work on `stream`. When the source has no more, waits for freed blocks and gives free
  // pieces back first; throws Error{resource} if that is not enough.
  void* allocate(std::size_t bytes, StreamHandle stream);
  // The memory is free once the work that these streams have been given so far is done.
  void deallocate(void* pointer, std::span<const StreamHandle> streams) noexcept;
  // Marks the piece around `pointer` as exported: it is only reused and never given back, as other processes
  // may map it.
  void keep(const void* pointer);
  // Throws Error{invalid_argument} for memory that is not from here.
  Allocation allocation_of(const void* pointer) const;

  std::size_t in_use() const;    // bytes of blocks that are not freed
  std::size_t reserved() const;  // bytes of all pieces

 private:
  struct Piece {
    Allocation all;
    BlockMap blocks;
    bool kept = false;
    bool contains(const void* pointer) const {
      const auto* byte = static_cast<const std::byte*>(pointer);
      return byte >= all.base && byte < all.base + all.bytes;
    }
  };
  // A block that was freed, and the events that must be reached before it is free.
  struct Leaving {
    Piece* piece;
    BlockMap::Block block;
    std::vector<std::pair<StreamHandle, EventHandle>> uses;
  };
  // All of these expect mutex_ to be held.
  Piece* piece_of(const void* pointer);
  void* find_free(std::size_t bytes);
  void* find_leaving(std::size_t bytes, StreamHandle stream);
  void* find_kept(std::size_t bytes);
  void drop_reached(Leaving& block, std::set<StreamHandle>& behind);
  void collect();
  void* in_new_piece(std::size_t bytes);
  EventHandle take_event();
  // These two release it while the driver works.
  void give_back_free_pieces(std::unique_lock<std::mutex>& lock);
  void wait_for_leaving(std::unique_lock<std::mutex>& lock);

  DeviceApi& api_;
  const Device device_;
  const Source source_;
  mutable std::mutex mutex_;
  std::list<Piece> pieces_;
  std::list<Leaving> leaving_;
  std::vector<EventHandle> spare_events_;
  std::size_t leaving_bytes_ = 0;
};

}  // namespace dist
