// Memory of the fake device: a memfd, so that other processes can map it. What the program sees are addresses
// no one can read or write, as a GPU's: a CPU that touches device memory crashes at once. Only the streams of
// the fake device know where the bytes are.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <vector>

#include <sys/types.h>

#include "dist/core/device.h"
#include "dist/core/handles.h"
#include "dist/core/memory/block_map.h"

namespace dist::test {

// Reserves inaccessible addresses, as many as a segment has bytes.
class ForbiddenRange {
 public:
  explicit ForbiddenRange(std::size_t bytes);
  ForbiddenRange(ForbiddenRange&& other) noexcept;
  ForbiddenRange& operator=(ForbiddenRange&&) = delete;
  ~ForbiddenRange();
  // The offset of `pointer` in the range, if it is inside.
  std::optional<std::size_t> offset_of(const void* pointer) const;
  std::byte* at(std::size_t offset) const { return start_ + offset; }

 private:
  std::byte* start_ = nullptr;
  std::size_t bytes_ = 0;
};

// One segment of device memory, this process's or an imported one.
struct FakeSegment {
  Mapping bytes;
  ForbiddenRange addresses;
};

// What the handle of an exported block says.
struct FakeHandle {
  pid_t pid = 0;
  int fd = -1;
  std::size_t segment_bytes = 0, offset = 0, size = 0;
  std::byte unused[32] = {};  // as long as a GPU's
};

class FakeMemory {
 public:
  explicit FakeMemory(std::size_t bytes);

  void* allocate(std::size_t bytes);  // filled with garbage; Error{resource} when full
  void deallocate(void* pointer);     // filled with garbage again
  Allocation block_of(const void* pointer) const;
  FakeHandle export_block(const void* pointer) const;
  void* import_block(const FakeHandle& handle);
  void release_import(void* pointer);

  // Where the bytes are, if [pointer, pointer + bytes) lies inside one allocated or imported block.
  std::byte* locate(const void* pointer, std::size_t bytes) const;
  bool owns(const void* pointer) const { return segment_.addresses.offset_of(pointer).has_value(); }
  std::size_t in_use() const { return blocks_.in_use(); }

 private:
  struct Import {
    FakeSegment segment;
    std::size_t offset = 0, size = 0;
  };
  struct Block {
    std::size_t bytes = 0;  // as requested
    std::uint64_t id = 0;
  };
  using Blocks = std::map<std::size_t, Block>;  // by offset
  Blocks::const_iterator block_around(const void* pointer) const;

  UniqueFd fd_;
  FakeSegment segment_;
  BlockMap blocks_;
  Blocks allocated_;
  std::list<Import> imports_;
};

}  // namespace dist::test
