// The arena: tensors in one memfd segment, and what fork() does to it: from then on the child's tensors are
// copies of its own (private_copy.h).
#include "dist/core/memory/arena.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#include <pthread.h>

#include "dist/core/fail.h"
#include "dist/core/limits.h"
#include "dist/core/log.h"
#include "dist/core/memory/fork_gate.h"
#include "dist/core/memory/private_copy.h"
#include "dist/core/memory/segment.h"
#include "dist/core/sanitizer.h"

namespace dist {

namespace {

// Freed memory up to this size keeps its pages, so that the next tensor finds them; more is given back to the
// system.
constexpr std::size_t cache_limit = std::size_t{256} << 20;

// A larger tensor is not prefaulted: each of its pages takes memory when it is touched, and not before.
constexpr std::size_t largest_prefaulted = std::size_t{64} << 20;

// The number of ranks that the launcher announced, 0 if none: most programs make tensors before they join a
// job.
int launched_ranks() {
  const char* const text = std::getenv("LOCAL_WORLD_SIZE");
  return text ? std::clamp(std::atoi(text), 0, 1 << 16) : 0;
}

}  // namespace

struct Arena::Impl {
  std::mutex mutex;
  std::unique_ptr<Segment> segment;                 // made at first use
  std::vector<std::unique_ptr<Segment>> inherited;  // from the processes that this one was forked from
  std::size_t peak = 0;
  int ranks = launched_ranks();  // 0: not known yet

  Segment& current() {
    if (!segment) segment = make_segment(std::max(ranks, 1));
    return *segment;
  }

  Segment* owner_of(const void* pointer) {
    if (segment && segment->contains(pointer)) return segment.get();
    for (const auto& old : inherited)
      if (old->contains(pointer)) return old.get();
    return nullptr;
  }

  static inline Impl* forked = nullptr;  // the one arena of this process
  ForkGate gate;
  static void before_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();
};

void Arena::Impl::before_fork() {
  forked->mutex.lock();
  if (forked->segment) forked->gate.close();
}

void Arena::Impl::after_fork_in_parent() {
  forked->gate.await_child();
  forked->mutex.unlock();
}

void Arena::Impl::after_fork_in_child() {
  if (forked->segment) {
    make_private(*forked->segment);
    forked->inherited.push_back(std::move(forked->segment));
    forked->peak = 0;
  }
  forked->gate.open();
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

void Arena::expect_ranks(int ranks) {
  Arena& arena = local();
  const std::scoped_lock lock(arena.impl_->mutex);
  if (arena.impl_->ranks == 0) arena.impl_->ranks = ranks;
}

void* Arena::allocate(std::size_t bytes) {
  const std::scoped_lock lock(impl_->mutex);
  Segment& segment = impl_->current();
  BlockMap& blocks = segment.blocks;
  // Beyond physical memory, the kernel would promise the pages and kill the process when it touches them.
  const std::size_t memory = physical_memory();
  const bool fits = bytes <= memory && blocks.in_use() <= memory - bytes;
  const auto block = fits ? blocks.allocate(bytes) : std::nullopt;
  if (!block)
    fail(Errc::resource,
         "a tensor of {} bytes does not fit: {} bytes are in use, this machine has {} and the largest "
         "hole of the arena {}{}; use smaller tensors or free some",
         bytes, blocks.in_use(), memory, blocks.largest_hole(), fits ? limit_behind(ENOMEM) : "");
  impl_->peak = std::max(impl_->peak, blocks.in_use());
  void* pointer = segment.at(block->offset);
  unpoison(pointer, bytes);
  if (bytes <= largest_prefaulted) segment.pages.prefault(segment.at(block->offset), bytes);
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
