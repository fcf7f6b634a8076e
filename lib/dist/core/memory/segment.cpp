// A segment's life: its capacity (from physical memory, and from what a limit on the address space leaves for
// the segments of all ranks of the host), and giving pages back. The copy that a forked child makes is in
// private_copy.cpp.
#include "dist/core/memory/segment.h"

#include <algorithm>
#include <bit>
#include <string>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/core/limits.h"
#include "dist/core/memory/memory_file.h"
#include "dist/core/round_up.h"
#include "dist/core/sanitizer.h"

namespace dist {

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::size_t least_alone = 256 * mib, least_together = 8 * mib;
constexpr std::size_t usual_capacity = 1024 * mib;
// A rank maps the arenas of all ranks of its host, usually one per core, into an address space of 2^47 bytes.
// ThreadSanitizer's shadow leaves less room.
std::size_t most_capacity() {
  if (built_with_tsan) return 16384 * mib;
  constexpr std::size_t together = std::size_t{1} << 46;
  return std::max(usual_capacity,
                  together / std::bit_ceil(std::max(std::thread::hardware_concurrency(), 1U)));
}

// What a limit on the address space leaves for one segment: the segments of all ranks of this host get half
// of it, the rest is for the program. A rank that is alone maps no others.
std::size_t affordable(int ranks) {
  const std::uint64_t free = free_address_space();
  if (free == unlimited) return free;
  const std::uint64_t share = ranks == 1 ? free / 4 * 3 : free / 2 / static_cast<std::uint64_t>(ranks);
  return share / mib * mib;
}

}  // namespace

std::unique_ptr<Segment> make_segment(int ranks) {
  std::size_t capacity = std::clamp(std::bit_ceil(physical_memory()), usual_capacity, most_capacity());
  raise_soft_limit(RLIMIT_FSIZE, capacity);
  while (capacity > soft_limit(RLIMIT_FSIZE)) capacity /= 2;
  capacity = std::min(capacity, affordable(ranks));
  const std::size_t least = std::max(least_alone / static_cast<std::size_t>(ranks), least_together);
  if (capacity < least)
    fail(Errc::resource,
         "the tensor arena needs at least {} MiB of address space and file size{}; the limits are {} (ulimit "
         "-v) "
         "and {} (ulimit -f); raise them",
         least / mib, ranks == 1 ? "" : fmt::format(", and as much for each of {} ranks of this host", ranks),
         limit_text(RLIMIT_AS), limit_text(RLIMIT_FSIZE));
  UniqueFd fd = make_memory_file("distlab-arena", capacity);
  Mapping mapping(fd.get(), capacity);
  return std::make_unique<Segment>(Segment{std::move(fd), std::move(mapping), BlockMap(capacity)});
}

void discard_pages(Segment& segment, const BlockMap::Block& block) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t first = round_up(block.offset, page);
  const std::size_t last = (block.offset + block.size) / page * page;
  if (first >= last) return;
  const int given_back = segment.fd
                             ? ::fallocate(segment.fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                           static_cast<off_t>(first), static_cast<off_t>(last - first))
                             : ::madvise(segment.at(first), last - first, MADV_DONTNEED);
  if (given_back != 0) return;
  segment.blocks.discard(block);
  segment.pages.forget(segment.at(first), last - first);
}

}  // namespace dist
