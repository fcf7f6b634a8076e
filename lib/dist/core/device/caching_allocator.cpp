// CachingAllocator: pieces from the driver, the blocks in them, and freed blocks that wait for their events.
// allocate() tries a freed block that only the same stream still uses, then a free block, then a new piece;
// when memory is short, it waits for the freed blocks, gives free pieces back and tries again.
#include "dist/core/device/caching_allocator.h"

#include <algorithm>

#include "dist/core/fail.h"
#include "dist/core/log.h"
#include "dist/core/round_up.h"

namespace dist {

namespace {

constexpr std::size_t piece_unit = std::size_t{2} << 20;  // the driver's own granularity

std::size_t piece_size(std::size_t bytes) {
  if (bytes < CachingAllocator::own_piece) return CachingAllocator::piece_bytes;
  return bytes > SIZE_MAX - piece_unit ? bytes : round_up(bytes, piece_unit);
}

// Calls without the lock: the driver may take long, or wait for work that itself needs memory to finish.
template <class Call>
void unlocked(std::unique_lock<std::mutex>& lock, const Call& call) {
  struct Relock {
    std::unique_lock<std::mutex>& lock;
    ~Relock() { lock.lock(); }
  };
  lock.unlock();
  const Relock relock{lock};
  call();
}

}  // namespace

CachingAllocator::CachingAllocator(DeviceApi& api, Device device, Source source)
    : api_(api), device_(device), source_(std::move(source)) {}

CachingAllocator::~CachingAllocator() {
  std::unique_lock lock(mutex_);
  wait_for_leaving(lock);
  for (const EventHandle event : spare_events_) api_.free_event(device_, event);
  for (const Piece& piece : pieces_) source_.give_back(piece.all.base);
}

void* CachingAllocator::allocate(std::size_t bytes, StreamHandle stream) {
  std::unique_lock lock(mutex_);
  collect();
  if (void* found = find_leaving(bytes, stream)) return found;
  if (void* found = find_free(bytes)) return found;
  try {
    return in_new_piece(bytes);
  } catch (const Error& error) {
    if (error.code() != Errc::resource) throw;
  }
  wait_for_leaving(lock);
  if (void* found = find_free(bytes)) return found;
  give_back_free_pieces(lock);
  if (void* found = find_kept(bytes)) return found;
  return in_new_piece(bytes);
}

// Small tensors do not go into the pieces of large ones, which must become free as a whole.
void* CachingAllocator::find_free(std::size_t bytes) {
  for (Piece& piece : pieces_) {
    if (piece.all.bytes != piece_size(bytes)) continue;
    if (const auto block = piece.blocks.allocate(bytes)) return piece.all.base + block->offset;
  }
  return nullptr;
}

// Looks in the pieces that cannot be given back: the only memory left, whatever size they are for.
void* CachingAllocator::find_kept(std::size_t bytes) {
  for (Piece& piece : pieces_) {
    if (!piece.kept) continue;
    if (const auto block = piece.blocks.allocate(bytes)) return piece.all.base + block->offset;
  }
  return nullptr;
}

// Finds a block of a suitable size that only `stream` itself still uses.
void* CachingAllocator::find_leaving(std::size_t bytes, StreamHandle stream) {
  const auto suits = [&](const Leaving& leaving) {
    return leaving.block.size >= bytes && leaving.block.size / 2 <= bytes &&
           std::ranges::all_of(leaving.uses, [&](const auto& use) { return use.first == stream; });
  };
  const auto found = std::ranges::find_if(leaving_, suits);
  if (found == leaving_.end()) return nullptr;
  void* const memory = found->piece->all.base + found->block.offset;
  for (const auto& [used_by, event] : found->uses) spare_events_.push_back(event);
  leaving_bytes_ -= found->block.size;
  leaving_.erase(found);
  return memory;
}

void* CachingAllocator::in_new_piece(std::size_t bytes) {
  const std::size_t size = piece_size(bytes);
  auto* const base = static_cast<std::byte*>(source_.take(size));
  Piece& piece = pieces_.emplace_back(Piece{{base, size, next_allocation_id()}, BlockMap(size)});
  return base + piece.blocks.allocate(bytes).value().offset;
}

void CachingAllocator::deallocate(void* pointer, std::span<const StreamHandle> streams) noexcept {
  const std::scoped_lock lock(mutex_);
  Piece* const piece = piece_of(pointer);
  const auto offset =
      piece ? static_cast<std::size_t>(static_cast<std::byte*>(pointer) - piece->all.base) : 0;
  const auto block = piece ? piece->blocks.used().find(offset) : decltype(piece->blocks.used().end()){};
  if (!piece || block == piece->blocks.used().end()) {
    log(LogLevel::error, "freed {} twice, or it was never allocated on {}", pointer, device_.str());
    return;
  }
  Leaving& leaving = leaving_.emplace_back(Leaving{piece, {block->first, block->second}, {}});
  leaving_bytes_ += leaving.block.size;
  try {
    for (const StreamHandle stream : streams) {
      leaving.uses.emplace_back(stream, take_event());
      api_.record(device_, leaving.uses.back().second, stream);
    }
  } catch (const std::exception& error) {  // the device is broken or shutting down: never reuse the block
    log(LogLevel::info, "{}: memory could not be freed: {}", device_.str(), error.what());
    for (const auto& [stream, event] : leaving.uses) spare_events_.push_back(event);
    leaving_bytes_ -= leaving.block.size;
    leaving_.pop_back();
  }
}

EventHandle CachingAllocator::take_event() {
  if (spare_events_.empty()) return api_.make_event(device_);
  const EventHandle event = spare_events_.back();
  spare_events_.pop_back();
  return event;
}

// `behind` collects the streams that have not even reached the event of an earlier block.
void CachingAllocator::drop_reached(Leaving& leaving, std::set<StreamHandle>& behind) {
  std::erase_if(leaving.uses, [&](const auto& use) {
    if (behind.contains(use.first)) return false;
    if (!api_.is_done(device_, use.second)) {
      behind.insert(use.first);
      return false;
    }
    spare_events_.push_back(use.second);
    return true;
  });
}

void CachingAllocator::collect() {
  std::set<StreamHandle> behind;
  std::erase_if(leaving_, [&](Leaving& leaving) {
    drop_reached(leaving, behind);
    if (!leaving.uses.empty()) return false;
    leaving_bytes_ -= leaving.block.size;
    leaving.piece->blocks.deallocate(leaving.block.offset);
    return true;
  });
}

void CachingAllocator::wait_for_leaving(std::unique_lock<std::mutex>& lock) {
  std::vector<EventHandle> events;  // they live as long as the allocator
  for (const Leaving& leaving : leaving_)
    for (const auto& [stream, event] : leaving.uses) events.push_back(event);
  unlocked(lock, [&] {
    for (const EventHandle event : events) api_.synchronize_event(device_, event);
  });
  collect();
}

void CachingAllocator::give_back_free_pieces(std::unique_lock<std::mutex>& lock) {
  std::vector<std::byte*> bases;
  std::erase_if(pieces_, [&](const Piece& piece) {
    if (piece.kept || piece.blocks.in_use() > 0) return false;
    bases.push_back(piece.all.base);
    return true;
  });
  unlocked(lock, [&] {
    for (std::byte* const base : bases) source_.give_back(base);
  });
}

CachingAllocator::Piece* CachingAllocator::piece_of(const void* pointer) {
  const auto found =
      std::ranges::find_if(pieces_, [&](const Piece& piece) { return piece.contains(pointer); });
  return found == pieces_.end() ? nullptr : &*found;
}

void CachingAllocator::keep(const void* pointer) {
  const std::scoped_lock lock(mutex_);
  if (Piece* const piece = piece_of(pointer)) piece->kept = true;
}

Allocation CachingAllocator::allocation_of(const void* pointer) const {
  const std::scoped_lock lock(mutex_);
  for (const Piece& piece : pieces_)
    if (piece.contains(pointer)) return piece.all;
  fail(Errc::invalid_argument, "{} is not in the memory of any tensor on {}", pointer, device_.str());
}

std::size_t CachingAllocator::in_use() const {
  const std::scoped_lock lock(mutex_);
  std::size_t bytes = 0;
  for (const Piece& piece : pieces_) bytes += piece.blocks.in_use();
  return bytes - leaving_bytes_;
}

std::size_t CachingAllocator::reserved() const {
  const std::scoped_lock lock(mutex_);
  std::size_t bytes = 0;
  for (const Piece& piece : pieces_) bytes += piece.all.bytes;
  return bytes;
}

}  // namespace dist
