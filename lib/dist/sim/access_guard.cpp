// AccessGuard: allocations on pages of their own, closing and opening ranges of them by mprotect, and
// touched(), which the fault handler calls. Several closed ranges may share a page; a page gets the strictest
// protection.
#include "dist/sim/access_guard.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include "dist/core/round_up.h"
#include "dist/sim/never_written.h"

namespace dist::sim {

namespace {
constexpr std::size_t cache_line = 64;
constexpr std::size_t enough_to_tell = std::size_t{1} << 20;

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
}  // namespace

AccessGuard::AccessGuard(bool on) : page_(page_bytes()), on_(on) {}

void* AccessGuard::allocate(std::size_t bytes) {
  const std::size_t size = round_up(bytes, cache_line);
  if (!on_) return std::aligned_alloc(cache_line, size);
  const std::size_t pages = round_up(size, page_);
  void* const memory =
      mmap(nullptr, pages + page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  std::byte* const fence = static_cast<std::byte*>(memory) + pages;
  mprotect(fence, page_, PROT_NONE);
  std::byte* const begin = fence - size;
  std::memset(begin, never_written, std::min(size, enough_to_tell));
  allocated_[begin] = fence;
  return begin;
}

void AccessGuard::deallocate(void* memory, std::size_t bytes) noexcept {
  if (on_) allocated_.erase(static_cast<const std::byte*>(memory));
  release()(memory, bytes);
}

void AccessGuard::free(void* memory, std::size_t) noexcept { std::free(memory); }

void AccessGuard::unmap(void* memory, std::size_t bytes) noexcept {
  const std::size_t page = page_bytes(), size = round_up(bytes, cache_line), pages = round_up(size, page);
  munmap(static_cast<std::byte*>(memory) + size - pages, pages + page);
}

int AccessGuard::close(const void* begin, std::size_t bytes, bool may_read) {
  const auto* first = static_cast<const std::byte*>(begin);
  const auto next = allocated_.upper_bound(first);
  if (bytes == 0 || next == allocated_.begin() || first + bytes > std::prev(next)->second) return not_closed;
  auto place = std::ranges::find(closed_, nullptr, &Closed::begin);
  if (place == closed_.end()) place = closed_.insert(place, Closed{});
  *place = {first, first + bytes, may_read, false};
  for (const auto* page = page_of(first); page < first + bytes; page += page_) protect(page);
  return static_cast<int>(place - closed_.begin());
}

bool AccessGuard::open(int number) {
  const Closed opened = std::exchange(closed_[static_cast<std::size_t>(number)], Closed{});
  for (const auto* page = page_of(opened.begin); page < opened.end; page += page_) protect(page);
  return opened.touched;
}

bool AccessGuard::touched(const void* address) noexcept {
  const auto* page = page_of(address);
  const auto* at = static_cast<const std::byte*>(address);
  bool ours = false, unreadable = false, wrong = false;
  for (const Closed& closed : closed_) {
    if (closed.begin == nullptr || closed.end <= page || closed.begin >= page + page_) continue;
    ours = true;
    unreadable |= !closed.may_read;
    wrong |= !closed.may_read && closed.begin <= at && at < closed.end;
  }
  if (!ours) return false;
  if (unreadable && !wrong && page != readable_) {
    readable_ = page;
    mprotect(const_cast<std::byte*>(page), page_, PROT_READ);
    return true;
  }
  for (Closed& closed : closed_)
    closed.touched |= closed.begin != nullptr && closed.begin <= at && at < closed.end;
  // Data beside it on the same page may be in use: opening the page means that later accesses go unnoticed.
  mprotect(const_cast<std::byte*>(page), page_, PROT_READ | PROT_WRITE);
  return true;
}

const std::byte* AccessGuard::page_of(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return reinterpret_cast<const std::byte*>(at - at % page_);
}

void AccessGuard::protect(const std::byte* page) noexcept {
  if (page == readable_) readable_ = nullptr;
  int allowed = PROT_READ | PROT_WRITE;
  for (const Closed& closed : closed_) {
    if (closed.begin == nullptr || closed.end <= page || closed.begin >= page + page_) continue;
    allowed &= closed.may_read ? PROT_READ : PROT_NONE;
  }
  mprotect(const_cast<std::byte*>(page), page_, allowed);
}

}  // namespace dist::sim
