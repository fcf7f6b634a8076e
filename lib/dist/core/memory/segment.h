// The arena's memory: a memfd, its mapping, and which parts of it are in use. Not thread-safe; the arena
// locks.
#pragma once

#include <cstddef>
#include <memory>

#include "dist/core/handles.h"
#include "dist/core/memory/block_map.h"
#include "dist/core/memory/prefaulted_pages.h"

namespace dist {

// In a forked child the parent's segment stays, as private memory without a descriptor, from which nothing is
// allocated any more.
struct Segment {
  UniqueFd fd;
  Mapping mapping;
  BlockMap blocks;
  PrefaultedPages pages{mapping.data(), mapping.size()};

  std::byte* at(std::size_t offset) const { return mapping.data() + offset; }
  bool contains(const void* pointer) const {
    const auto* byte = static_cast<const std::byte*>(pointer);
    return byte >= mapping.data() && byte < mapping.data() + mapping.size();
  }
};

// Makes a segment as large as physical memory, or as the process's limits allow if `ranks` ranks of this host
// each map the segments of all. Throws Error{resource}, which names the limits, when that is too little.
std::unique_ptr<Segment> make_segment(int ranks);

// Gives the whole pages inside a free block back to the system. A block that contains none keeps its memory.
void discard_pages(Segment& segment, const BlockMap::Block& block);

}  // namespace dist
