// The arena: where CPU tensors live, in memory that other processes can map. One per process, a memfd segment
// of sparse virtual memory; nothing of it has a name in any file system, so nothing can be left behind.
// Thread-safe. After fork() the child gets an arena of its own; tensors made before stay readable as copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace dist {

class Arena {
 public:
  // This process's arena, made at first use. Throws Error{resource} with the limit that was hit.
  static Arena& local();

  // At most so many ranks of this host will map each other's arenas: where the address space is limited
  // (ulimit -v), an arena that is made later leaves room for theirs. What LOCAL_WORLD_SIZE says, or an
  // earlier call, stays; without either it is one.
  static void expect_ranks(int ranks);

  // 64-byte aligned memory, or Error{resource} saying how much was asked for and what is left.
  void* allocate(std::size_t bytes);
  void deallocate(void* pointer) noexcept;  // large free blocks go back to the system

  // Offset of [pointer, pointer + bytes) in the segment, or nothing if it lies elsewhere (foreign memory).
  std::optional<std::uint64_t> offset_of(const void* pointer, std::size_t bytes) const;

  int fd() const;                // the memfd, to be sent to peers
  std::size_t capacity() const;  // bytes of address space a peer maps
  std::size_t in_use() const;    // bytes allocated now
  std::size_t peak() const;      // highest in_use() so far

 private:
  Arena();
  struct Impl;
  Impl* impl_;  // lives until the process ends: tensors in static storage may outlive main
};

}  // namespace dist
