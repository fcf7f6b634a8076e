#include "dist/core/memory/block_map.h"

#include <algorithm>

namespace dist {

BlockMap::BlockMap(std::size_t capacity) { add_hole(0, {capacity, 0}); }

void BlockMap::add_hole(std::size_t offset, Hole hole) {
  holes_.emplace(offset, hole);
  by_size_.emplace(hole.size, offset);
  cached_ += hole.cached;
}

BlockMap::Hole BlockMap::remove_hole(Holes::iterator hole) {
  const Hole removed = hole->second;
  by_size_.erase({removed.size, hole->first});
  holes_.erase(hole);
  cached_ -= removed.cached;
  return removed;
}

std::optional<BlockMap::Block> BlockMap::allocate(std::size_t bytes) {
  const std::size_t units = bytes / alignment + (bytes % alignment != 0 || bytes == 0 ? 1 : 0);
  const std::size_t size = units * alignment;
  if (size < bytes) return std::nullopt;  // wrapped around
  const auto best = by_size_.lower_bound({size, 0});
  if (best == by_size_.end()) return std::nullopt;
  const std::size_t offset = best->second;
  const Hole hole = remove_hole(holes_.find(offset));
  if (hole.size > size)
    add_hole(offset + size, {hole.size - size, hole.cached - std::min(hole.cached, size)});
  used_.emplace(offset, size);
  in_use_ += size;
  return Block{offset, size};
}

std::optional<BlockMap::Block> BlockMap::deallocate(std::size_t offset) {
  const auto found = used_.find(offset);
  if (found == used_.end()) return std::nullopt;
  const Block block{offset, found->second};
  used_.erase(found);
  in_use_ -= block.size;

  Hole merged{block.size, block.size};
  std::size_t start = offset;
  auto after = holes_.lower_bound(offset);
  if (after != holes_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second.size == offset) {
      start = before->first;
      const Hole left = remove_hole(before);
      merged = {merged.size + left.size, merged.cached + left.cached};
    }
  }
  if (after != holes_.end() && offset + block.size == after->first) {
    const Hole right = remove_hole(after);
    merged = {merged.size + right.size, merged.cached + right.cached};
  }
  add_hole(start, merged);
  return block;
}

void BlockMap::discard(const Block& block) {
  const auto hole = std::prev(holes_.upper_bound(block.offset));
  const std::size_t gone = std::min(block.size, hole->second.cached);
  hole->second.cached -= gone;
  cached_ -= gone;
}

}  // namespace dist
