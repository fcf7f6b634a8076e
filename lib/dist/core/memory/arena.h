// The arena holds the CPU tensors, in memory that other processes can map. There is one per process, a memfd
// segment of sparse virtual memory; it has no name in any file system, so nothing can be left behind.
// Thread-safe. After fork() the child gets an arena of its own; the tensors made earlier stay readable there,
// as copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace dist {

class Arena {
 public:
  // This process's arena, made at first use. Throws Error{resource} with the limit that was hit.
  static Arena& local();

  // Announces that at most `ranks` ranks of this host will map each other's arenas: where the address space
  // is limited (ulimit -v), an arena that is made later leaves room for theirs. LOCAL_WORLD_SIZE, or an
  // earlier call, takes precedence; without either it is one.
  static void expect_ranks(int ranks);

  // Returns 64-byte aligned memory. Throws Error{resource}, which says how much was asked for and what is
  // left.
  void* allocate(std::size_t bytes);
  void deallocate(void* pointer) noexcept;  // large free blocks go back to the system

  // Offset of [pointer, pointer + bytes) in the segment; nothing if it is elsewhere (foreign memory).
  std::optional<std::uint64_t> offset_of(const void* pointer, std::size_t bytes) const;

  int fd() const;                // the memfd, to be sent to peers
  std::size_t capacity() const;  // bytes of address space that a peer maps
  std::size_t in_use() const;    // bytes allocated now
  std::size_t peak() const;      // highest in_use() so far

 private:
  Arena();
  struct Impl;
  Impl* impl_;  // never deleted: tensors in static storage may outlive main
};

}  // namespace dist
