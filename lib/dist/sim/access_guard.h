// AccessGuard: the memory of tensors that a program must not touch for a while. Closed pages fault; the fault
// is noted, the page is opened, and the program goes on. Owner and scheduler run in one thread.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "dist/core/tasking.h"

namespace dist::sim {

class AccessGuard {
 public:
  // `on`: every allocation gets pages of its own, which can be closed, and ends where they end: the page
  // after it is closed forever, and so is the whole allocation once it is freed. An access beyond a tensor
  // faults there, at the latest after a cache line.
  explicit AccessGuard(bool on);

  void* allocate(std::size_t bytes);  // null: no memory
  void deallocate(void* memory, std::size_t bytes) noexcept;
  // Frees memory of that size after the guard is gone.
  Tasking::Release release() const { return on_ ? unmap : free; }

  static constexpr int not_closed = -1;
  // From now on [begin, begin + bytes) may only be read, or must not be touched at all. Returns a number for
  // open(), or not_closed if the range is not within an allocation of this guard.
  int close(const void* begin, std::size_t bytes, bool may_read);
  // Ends that. Returns true if the program has meanwhile done what it must not do.
  bool open(int number);

  // Handles the fault at `address`: notes it and opens the page. A fault does not say whether it was a read
  // or a write: if reading is allowed, the page is first opened for reading, and what faults again is a
  // write. Returns false if the address is not in a closed range. Async-signal-safe.
  bool touched(const void* address) noexcept;

 private:
  struct Closed {
    const std::byte *begin = nullptr, *end = nullptr;  // null: this number is free
    bool may_read = false, touched = false;
  };
  static void free(void* memory, std::size_t bytes) noexcept;
  static void unmap(void* memory, std::size_t bytes) noexcept;
  const std::byte* page_of(const void* address) const;
  void protect(const std::byte* page) noexcept;  // as strictly as the closed ranges on it require

  const std::size_t page_;
  const bool on_;
  std::map<const std::byte*, const std::byte*> allocated_;  // begin to end, which is the end of a page
  std::vector<Closed> closed_;
  const std::byte* readable_ = nullptr;  // the page that touched() last opened for reading
};

}  // namespace dist::sim
