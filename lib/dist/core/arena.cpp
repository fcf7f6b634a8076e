#include "dist/core/arena.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <linux/falloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dist/core/block_map.h"
#include "dist/core/fail.h"
#include "dist/core/handles.h"
#include "dist/core/log.h"
#include "dist/core/memory_limit.h"
#include "dist/core/sanitizer.h"

namespace dist {

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::size_t least_capacity = 256 * mib;
constexpr std::size_t usual_capacity = 1024 * mib;
// ThreadSanitizer's shadow leaves less room for mappings.
constexpr std::size_t most_capacity = built_with_tsan ? 16384 * mib : std::size_t{1} << 46;
// Freed memory that keeps its pages, so that the next tensor finds them; more is given back to the system.
constexpr std::size_t cache_limit = 256 * mib;

rlim_t soft_limit(int resource) {
  rlimit limit{};
  return ::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) == 0 ? limit.rlim_cur
                                                                              : RLIM_INFINITY;
}

std::string limit_text(rlim_t limit) {
  return limit == RLIM_INFINITY ? "unlimited" : fmt::format("{} MiB", limit / mib);
}

// A memfd and its mapping, and what of it is in use. In a forked child the parent's segment stays as private
// memory without a descriptor, from which nothing is allocated any more.
struct Segment {
  UniqueFd fd;
  Mapping mapping;
  BlockMap blocks;

  std::byte* at(std::size_t offset) const { return mapping.data() + offset; }
  bool contains(const void* pointer) const {
    const auto* byte = static_cast<const std::byte*>(pointer);
    return byte >= mapping.data() && byte < mapping.data() + mapping.size();
  }
};

std::unique_ptr<Segment> make_segment() {
  UniqueFd fd(::memfd_create("distlab-arena", MFD_CLOEXEC));
  if (!fd) fail_errno(Errc::resource, errno, "making the tensor arena's memory file");
  std::size_t capacity = std::clamp(std::bit_ceil(physical_memory()), usual_capacity, most_capacity);
  // Beyond RLIMIT_FSIZE ftruncate would not only fail but raise SIGXFSZ.
  while (capacity > soft_limit(RLIMIT_FSIZE) && capacity >= least_capacity) capacity /= 2;
  for (; capacity >= least_capacity; capacity /= 2) {
    try {
      Mapping mapping(fd.get(), capacity);
      if (::ftruncate(fd.get(), static_cast<off_t>(capacity)) != 0)
        fail_errno(Errc::resource, errno, fmt::format("sizing the tensor arena to {} MiB", capacity / mib));
      return std::make_unique<Segment>(Segment{std::move(fd), std::move(mapping), BlockMap(capacity)});
    } catch (const Error&) {
      if (capacity == least_capacity) break;  // no smaller arena is worth having
    }
  }
  fail(Errc::resource,
       "the tensor arena needs at least {} MiB of address space and file size; the limits are {} (ulimit -v) "
       "and {} "
       "(ulimit -f); raise them",
       least_capacity / mib, limit_text(soft_limit(RLIMIT_AS)), limit_text(soft_limit(RLIMIT_FSIZE)));
}

// The whole pages inside a block, given back. Only pages: smaller blocks keep theirs.
void discard_pages(Segment& segment, const BlockMap::Block& block) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t first = (block.offset + page - 1) / page * page;
  const std::size_t last = (block.offset + block.size) / page * page;
  if (first >= last) return;
  const int given_back = segment.fd
                             ? ::fallocate(segment.fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                           static_cast<off_t>(first), static_cast<off_t>(last - first))
                             : ::madvise(segment.at(first), last - first, MADV_DONTNEED);
  if (given_back == 0) segment.blocks.discard(block);
}

// Reads bytes [next, end) of the memory file to where they are mapped now.
bool read_back(const Segment& segment, off_t next, off_t end) {
  while (next < end) {
    std::byte* to = segment.at(static_cast<std::size_t>(next));
    const ssize_t got = ::pread(segment.fd.get(), to, static_cast<std::size_t>(end - next), next);
    if (got <= 0 && errno != EINTR) return false;
    next += std::max<ssize_t>(got, 0);
  }
  return true;
}

// The same for one block, without its holes: pages never touched, which are zeros here as there.
bool copy_block(const Segment& segment, const BlockMap::Block& block) {
  const int fd = segment.fd.get();
  const auto end = static_cast<off_t>(block.offset + block.size);
  auto next = static_cast<off_t>(block.offset);
  while (next < end) {
    const off_t data = ::lseek(fd, next, SEEK_DATA);
    if (data < 0) return errno == ENXIO;  // nothing but a hole up to the end of the file
    if (data >= end) return true;
    next = std::min(end, ::lseek(fd, data, SEEK_HOLE));
    if (!read_back(segment, data, next)) return false;
  }
  return true;
}

// In a forked child: the segment becomes this process's own memory, at the same addresses, with the same
// contents.
void make_private(Segment& segment) {
  const int protection = PROT_READ | PROT_WRITE;
  const int flags = MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* at = ::mmap(segment.at(0), segment.mapping.size(), protection, flags, -1, 0);
  bool copied = at != MAP_FAILED;
  for (const auto& [offset, size] : segment.blocks.used()) {
    unpoison(segment.at(offset), size);  // a block's padding is copied too
    copied = copied && copy_block(segment, {offset, size});
  }
  if (!copied) {
    log(LogLevel::error, "a forked process could not copy its tensors: {}",
        std::generic_category().message(errno));
    ::_exit(EXIT_FAILURE);
  }
  segment.fd.reset();
}

}  // namespace

struct Arena::Impl {
  std::mutex mutex;
  std::unique_ptr<Segment> segment;                 // made at first use
  std::vector<std::unique_ptr<Segment>> inherited;  // of the processes this one was forked from
  std::size_t peak = 0;

  Segment& current() {
    if (!segment) segment = make_segment();
    return *segment;
  }

  Segment* owner_of(const void* pointer) {
    if (segment && segment->contains(pointer)) return segment.get();
    for (const auto& old : inherited)
      if (old->contains(pointer)) return old.get();
    return nullptr;
  }

  // fork(). Parent and child share the segment's pages, so the child must copy what is in use before the
  // parent writes to it again: the parent waits at a pipe until the child closes its end (or dies).
  static inline Impl* forked = nullptr;  // the one arena of this process
  UniqueFd gate_wait, gate_open;
  static void before_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();
};

void Arena::Impl::before_fork() {
  forked->mutex.lock();
  int ends[2];
  if (forked->segment && ::pipe2(ends, O_CLOEXEC) == 0) {
    forked->gate_wait = UniqueFd(ends[0]);
    forked->gate_open = UniqueFd(ends[1]);
  }
}

void Arena::Impl::after_fork_in_parent() {
  forked->gate_open.reset();
  char byte = 0;
  while (forked->gate_wait && ::read(forked->gate_wait.get(), &byte, 1) < 0 && errno == EINTR) {
  }
  forked->gate_wait.reset();
  forked->mutex.unlock();
}

void Arena::Impl::after_fork_in_child() {
  if (forked->segment) {
    make_private(*forked->segment);
    forked->inherited.push_back(std::move(forked->segment));
    forked->peak = 0;
  }
  forked->gate_wait.reset();
  forked->gate_open.reset();
  forked->mutex.unlock();
}

Arena::Arena() : impl_(new Impl) {
  Impl::forked = impl_;
  ::pthread_atfork(Impl::before_fork, Impl::after_fork_in_parent, Impl::after_fork_in_child);
}

Arena& Arena::local() {
  static auto* arena = new Arena;  // never deleted: tensors in static storage may outlive main
  return *arena;
}

void* Arena::allocate(std::size_t bytes) {
  const std::scoped_lock lock(impl_->mutex);
  Segment& segment = impl_->current();
  BlockMap& blocks = segment.blocks;
  // Beyond physical memory the pages would be promised, and the process killed when it touches them.
  const std::size_t memory = physical_memory();
  const bool fits = bytes <= memory && blocks.in_use() <= memory - bytes;
  const auto block = fits ? blocks.allocate(bytes) : std::nullopt;
  if (!block)
    fail(Errc::resource,
         "a tensor of {} bytes does not fit: {} bytes are in use, this machine has {} and the largest "
         "hole of the arena {}; use smaller tensors or free some",
         bytes, blocks.in_use(), memory, blocks.largest_hole());
  impl_->peak = std::max(impl_->peak, blocks.in_use());
  void* pointer = segment.at(block->offset);
  unpoison(pointer, bytes);
  return pointer;
}

void Arena::deallocate(void* pointer) noexcept {
  if (pointer == nullptr) return;
  const std::scoped_lock lock(impl_->mutex);
  Segment* owner = impl_->owner_of(pointer);
  const auto offset = owner ? static_cast<std::size_t>(static_cast<std::byte*>(pointer) - owner->at(0)) : 0;
  const auto block = owner ? owner->blocks.deallocate(offset) : std::nullopt;
  if (!block) {
    log(LogLevel::error, "freed {} twice, or it was never allocated from the tensor arena", pointer);
    return;
  }
  poison(pointer, block->size);
  const bool reusable = owner == impl_->segment.get();
  if (!reusable || owner->blocks.cached() > cache_limit) discard_pages(*owner, *block);
}

std::optional<std::uint64_t> Arena::offset_of(const void* pointer, std::size_t bytes) const {
  const std::scoped_lock lock(impl_->mutex);
  const Segment* segment = impl_->segment.get();
  if (!segment || !segment->contains(pointer)) return std::nullopt;
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - segment->at(0));
  if (bytes > segment->mapping.size() - offset) return std::nullopt;
  return offset;
}

int Arena::fd() const {
  const std::scoped_lock lock(impl_->mutex);
  return impl_->current().fd.get();
}

std::size_t Arena::capacity() const {
  const std::scoped_lock lock(impl_->mutex);
  return impl_->current().mapping.size();
}

std::size_t Arena::in_use() const {
  const std::scoped_lock lock(impl_->mutex);
  return impl_->segment ? impl_->segment->blocks.in_use() : 0;
}

std::size_t Arena::peak() const {
  const std::scoped_lock lock(impl_->mutex);
  return impl_->peak;
}

}  // namespace dist
