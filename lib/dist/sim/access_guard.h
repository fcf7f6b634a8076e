// AccessGuard: tensors' memory that a program must leave alone for a while. Closed pages fault; the fault is
// noted, the page opened, and the program goes on. Owner and scheduler run in one thread.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "dist/core/tasking.h"

namespace dist::sim {

class AccessGuard {
 public:
  // `on`: every allocation gets pages of its own, which can be closed, and ends where they do: behind it is a
  // page that is closed for ever, and so is all of it once it is freed. Whoever leaves a tensor faults there,
  // at the latest after a cache line.
  explicit AccessGuard(bool on);

  void* allocate(std::size_t bytes);  // null: no memory
  void deallocate(void* memory, std::size_t bytes) noexcept;
  // What frees memory of these bytes when the guard has gone.
  Tasking::Release release() const { return on_ ? unmap : free; }

  static constexpr int not_closed = -1;
  // [begin, begin + bytes) may be read only, or not be touched at all. Returns a number for open(), or
  // not_closed where it lies outside of what allocate() gave.
  int close(const void* begin, std::size_t bytes, bool may_read);
  // Ends that. True: the program did what it must not, meanwhile.
  bool open(int number);

  // Of the fault at `address`: notes it and opens the page. A fault does not say whether it read or wrote:
  // where reading alone is no wrong, the page is first opened for reading, and what faults again writes.
  // False: it is not one of ours. Async-signal-safe.
  bool touched(const void* address) noexcept;

 private:
  struct Closed {
    const std::byte *begin = nullptr, *end = nullptr;  // null: this number is free
    bool may_read = false, touched = false;
  };
  static void free(void* memory, std::size_t bytes) noexcept;
  static void unmap(void* memory, std::size_t bytes) noexcept;
  const std::byte* page_of(const void* address) const;
  void protect(const std::byte* page) noexcept;  // as those that are closed there ask

  const std::size_t page_;
  const bool on_;
  std::map<const std::byte*, const std::byte*> allocated_;  // begin, end: that of a page
  std::vector<Closed> closed_;
  const std::byte* readable_ = nullptr;  // the page that touched() has last opened for reading
};

}  // namespace dist::sim
