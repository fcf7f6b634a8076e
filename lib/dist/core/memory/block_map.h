// BlockMap: which parts of a segment are in use; the arena's bookkeeping, on offsets alone. Best fit;
// neighbouring holes are merged. Not thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace dist {

class BlockMap {
 public:
  static constexpr std::size_t alignment = 64;  // a cache line, and the widest vector register

  struct Block {
    std::size_t offset = 0;
    std::size_t size = 0;
  };

  explicit BlockMap(std::size_t capacity);

  // A block of at least `bytes` (and at least one unit of alignment), or nothing when no hole is large
  // enough.
  std::optional<Block> allocate(std::size_t bytes);
  // Frees the block that starts at `offset`; returns nothing if there is none.
  std::optional<Block> deallocate(std::size_t offset);
  // Bytes of free memory that may still hold pages: freed, and not passed to discard() since.
  std::size_t cached() const { return cached_; }
  // Records that the pages of this free block have been given back.
  void discard(const Block& block);

  std::size_t in_use() const { return in_use_; }
  std::size_t largest_hole() const { return by_size_.empty() ? 0 : by_size_.rbegin()->first; }
  const std::unordered_map<std::size_t, std::size_t>& used() const { return used_; }  // offset to size

 private:
  struct Hole {
    std::size_t size = 0;
    std::size_t cached = 0;  // upper bound of its bytes that may hold pages
  };
  using Holes = std::map<std::size_t, Hole>;  // by offset
  void add_hole(std::size_t offset, Hole hole);
  Hole remove_hole(Holes::iterator hole);

  Holes holes_;
  std::set<std::pair<std::size_t, std::size_t>> by_size_;  // (size, offset) of every hole
  std::unordered_map<std::size_t, std::size_t> used_;
  std::size_t in_use_ = 0;
  std::size_t cached_ = 0;
};

}  // namespace dist
