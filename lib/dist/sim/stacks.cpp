#include "dist/sim/stacks.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>

#include <sys/mman.h>
#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/core/round_up.h"
#include "dist/core/sanitizer.h"

namespace dist::sim {

namespace {

constexpr std::uint64_t canary = 0x5AFE57ACC0DEF00Du;
// A gap that a frame with large arrays cannot jump over. The number is odd: stacks at a distance of a
// multiple of 64 KiB would share the same sets of the caches.
constexpr std::size_t guard_pages = 17;

std::size_t read_map_limit() {
  std::size_t limit = 65'530;
  std::ifstream("/proc/sys/vm/max_map_count") >> limit;
  return limit;
}

std::atomic<std::size_t> all_guards{0};  // over all stacks of this process

// A guard splits a mapping in two, and the rest of the process needs maps as well. Adjacent stacks without
// guards are one mapping.
bool map_count_allows(int count) {
  static const std::size_t limit = read_map_limit();
  return (all_guards + static_cast<std::size_t>(count)) * 2 + 5000 < limit;
}

// Staggers the stacks over the sets of the caches: tops at equal offsets in their pages would evict each
// other.
std::size_t stagger(int index) { return static_cast<std::size_t>(index) * 7 % 61 * 64; }

}  // namespace

Stacks::Stacks(int count, std::size_t bytes_each, Of of) : count_(count) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  guard_ = page * (of == Of::programs ? guard_pages : 1);
  each_ = round_up(bytes_each, page) + guard_;
  const std::size_t total = each_ * static_cast<std::size_t>(count);
  void* memory =
      mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    fail(Errc::resource,
         "{} more stacks of {} KiB cannot be allocated: {}; simulate fewer ranks, or raise ulimit -v or "
         "vm.max_map_count",
         count, each_ >> 10, std::strerror(errno));
  memory_ = static_cast<std::byte*>(memory);
  guarded_ = of == Of::programs && map_count_allows(count) && guard();
  // Thousands of stacks on pages of their own need more entries than the processor's TLB holds.
  if (of == Of::library) madvise(memory_, total, MADV_HUGEPAGE);
  if (guarded_) return;
  for (int i = 0; i < count; ++i) std::memcpy(base(i) + guard_ - sizeof canary, &canary, sizeof canary);
}

bool Stacks::guard() {
  int done = 0;
  while (done < count_ && mprotect(base(done), guard_, PROT_NONE) == 0) ++done;
  if (done == count_) {
    all_guards += static_cast<std::size_t>(count_);
    return true;
  }
  while (done > 0)
    mprotect(base(--done), guard_, PROT_READ | PROT_WRITE);  // all or none: intact() reads them
  return false;
}

Stacks::~Stacks() {
  const std::size_t total = each_ * static_cast<std::size_t>(count_);
  unpoison(memory_, total);  // frames that were never left
  munmap(memory_, total);
  if (guarded_) all_guards -= static_cast<std::size_t>(count_);
}

void* Stacks::top(int index) const { return base(index) + each_ - stagger(index); }
std::size_t Stacks::usable(int index) const { return each_ - guard_ - stagger(index); }

bool Stacks::intact(int index) const {
  return guarded_ || std::memcmp(base(index) + guard_ - sizeof canary, &canary, sizeof canary) == 0;
}

int Stacks::overflowed(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  if (!guarded_ || at < memory_ || at >= base(count_)) return -1;
  const auto offset = static_cast<std::size_t>(at - memory_);
  return offset % each_ < guard_ ? static_cast<int>(offset / each_) : -1;
}

}  // namespace dist::sim
