// The shared segment of a rank: its memory and doorbell (SharedSegment), how many areas the limits allow
// (affordable_areas), the claims on its large messages (Claims, begin_copy, end_copy), and the exchange by
// which ranks that are threads find each other's segments (SharedSegmentExchange).
#include "dist/transport/link/shared_segment.h"

#include <algorithm>
#include <cerrno>
#include <map>

#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/core/limits.h"
#include "dist/core/memory/memory_file.h"
#include "dist/core/round_up.h"

namespace dist::net {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t header_bytes = round_up(sizeof(SharedSegmentHeader), page);

std::size_t areas_begin(int rings, const RingShape& shape) {
  const std::size_t end = header_bytes + static_cast<std::size_t>(rings) * shape.bytes();
  return round_up(end, page);
}

std::size_t shared_segment_size(int rings, int areas, const RingShape& shape) {
  return areas_begin(rings, shape) + static_cast<std::size_t>(areas) * area_bytes;
}

UniqueFd make_doorbell() {
  UniqueFd fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!fd) fail_errno(Errc::resource, errno, "making a doorbell (eventfd)");
  return fd;
}

enum ClaimState : std::uint64_t { idle = 0, offered = 1, copying = 2, finished = 3 };
std::uint64_t word(ClaimRef claim, ClaimState state) { return claim.generation() << 2 | state; }

}  // namespace

SharedSegment::SharedSegment(int rings, int areas)
    : rings_(rings),
      areas_(areas),
      shape_(ring_shape(rings - 1)),
      memory_(make_memory_file("distlab-shared_segment", shared_segment_size(rings, areas, shape_))),
      doorbell_(make_doorbell()),
      mapping_(memory_.get(), shared_segment_size(rings, areas, shape_)) {}

SharedSegment::SharedSegment(UniqueFd memory, UniqueFd doorbell, int rings)
    : rings_(rings),
      shape_(ring_shape(rings - 1)),
      memory_(std::move(memory)),
      doorbell_(std::move(doorbell)) {
  mapping_ = Mapping(memory_.get(), read_size());
}

// The size is checked because a mapping beyond the end of the file would end in SIGBUS at some later moment.
std::size_t SharedSegment::read_size() {
  struct stat info {};
  const std::size_t bytes = ::fstat(memory_.get(), &info) == 0 ? static_cast<std::size_t>(info.st_size) : 0;
  const std::size_t begin = areas_begin(rings_, shape_);
  if (bytes > begin) areas_ = static_cast<int>((bytes - begin) / area_bytes);
  if (areas_ == 0 || areas_ > area_count || bytes != shared_segment_size(rings_, areas_, shape_))
    fail(Errc::connection,
         "a peer's shared memory has {} bytes, which do not fit; do all ranks run the same build?", bytes);
  return bytes;
}

int affordable_areas(int ranks) {
  const std::uint64_t share = free_address_space() / 8 / static_cast<std::uint64_t>(ranks);
  raise_soft_limit(RLIMIT_FSIZE, shared_segment_size(ranks, area_count, ring_shape(ranks - 1)));
  const std::uint64_t file = soft_limit(RLIMIT_FSIZE) / 2;  // half of it is left for rings and claims
  return static_cast<int>(std::clamp<std::uint64_t>(std::min(share, file) / area_bytes, 1, area_count));
}

std::byte* SharedSegment::ring(int index) const {
  return mapping_.data() + header_bytes + static_cast<std::size_t>(index) * shape_.bytes();
}

std::byte* SharedSegment::area(int index) const {
  return mapping_.data() + areas_begin(rings_, shape_) + static_cast<std::size_t>(index) * area_bytes;
}

void SharedSegment::ring_bell() noexcept {
  const std::uint64_t one = 1;
  // EAGAIN means that it is already ringing.
  [[maybe_unused]] const auto written = ::write(doorbell_.get(), &one, sizeof one);
}

void SharedSegment::silence_bell() noexcept {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto taken = ::read(doorbell_.get(), &count, sizeof count);
}

Claims::Claims(SharedSegment& own) : header_(own.header()), generation_(claim_count) {
  free_.reserve(claim_count);
  for (std::size_t i = claim_count; i-- > 0;) free_.push_back(static_cast<std::uint32_t>(i));
}

std::optional<ClaimRef> Claims::offer() {
  if (free_.empty()) return std::nullopt;
  const std::uint32_t index = free_.back();
  free_.pop_back();
  const ClaimRef claim{++generation_[index] << 16 | index};
  Claim& guard = header_.claims[index];
  guard.taken.store(0, std::memory_order_relaxed);
  guard.sender_done.store(0, std::memory_order_relaxed);
  guard.word.store(word(claim, offered));
  return claim;
}

bool Claims::withdraw(ClaimRef claim) {
  std::uint64_t expected = word(claim, offered);
  return header_.claims[claim.index()].word.compare_exchange_strong(expected, word(claim, finished)) ||
         expected == word(claim, finished);
}

void Claims::release(ClaimRef claim) { free_.push_back(claim.index()); }

bool begin_copy(SharedSegment& sender, ClaimRef claim) {
  std::uint64_t expected = word(claim, offered);
  return sender.claim(claim).word.compare_exchange_strong(expected, word(claim, copying));
}

void end_copy(SharedSegment& sender, ClaimRef claim) {
  sender.claim(claim).word.store(word(claim, finished));
}

namespace {

struct Published {
  std::shared_ptr<SharedSegment> shared_segment;  // nullptr: its owner called renounce()
  int visitors = 0;
};

struct ExchangeState {
  std::mutex mutex;
  std::map<std::uint64_t, Published> shared_segments;
};

ExchangeState& exchange_state() {
  static auto* state = new ExchangeState;  // never destroyed: ranks may outlive main's statics
  return *state;
}

}  // namespace

void SharedSegmentExchange::publish(std::uint64_t id, std::shared_ptr<SharedSegment> shared_segment,
                                    int visitors) {
  if (visitors == 0) return;
  auto& state = exchange_state();
  std::lock_guard lock(state.mutex);
  state.shared_segments[id] = {std::move(shared_segment), visitors};
}

void SharedSegmentExchange::renounce(std::uint64_t id) {
  auto& state = exchange_state();
  std::lock_guard lock(state.mutex);
  state.shared_segments[id] = {};
}

std::shared_ptr<SharedSegment> SharedSegmentExchange::find(std::uint64_t id) {
  auto& state = exchange_state();
  std::lock_guard lock(state.mutex);
  const auto it = state.shared_segments.find(id);
  if (it == state.shared_segments.end()) return nullptr;
  if (!it->second.shared_segment) fail(Errc::peer_failed, "it gave up while the ranks were connecting");
  auto shared_segment = it->second.shared_segment;
  if (--it->second.visitors == 0) state.shared_segments.erase(it);
  return shared_segment;
}

}  // namespace dist::net
