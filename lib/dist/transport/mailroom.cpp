#include "dist/transport/mailroom.h"

#include <cerrno>
#include <map>

#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/core/round_up.h"

namespace dist::net {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t header_bytes = round_up(sizeof(MailroomHeader), page);

std::size_t areas_begin(int rings, const RingShape& shape) {
  const std::size_t end = header_bytes + static_cast<std::size_t>(rings) * shape.bytes();
  return round_up(end, page);
}

std::size_t mailroom_size(int rings, const RingShape& shape) {
  return areas_begin(rings, shape) + area_count * sizeof(SharedArea);
}

UniqueFd make_memory(std::size_t bytes) {
  UniqueFd fd(::memfd_create("distlab-mailroom", MFD_CLOEXEC));
  if (!fd) fail_errno(Errc::resource, errno, "making the shared memory for messages (memfd_create)");
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0)
    fail_errno(Errc::resource, errno,
               fmt::format("sizing the shared memory for messages to {} bytes", bytes));
  return fd;
}

UniqueFd make_doorbell() {
  UniqueFd fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!fd) fail_errno(Errc::resource, errno, "making a doorbell (eventfd)");
  return fd;
}

enum ClaimState : std::uint64_t { idle = 0, offered = 1, copying = 2, finished = 3 };
std::uint64_t word(ClaimRef claim, ClaimState state) { return claim.generation() << 2 | state; }

}  // namespace

Mailroom::Mailroom(int rings)
    : rings_(rings),
      shape_(ring_shape(rings - 1)),
      memory_(make_memory(mailroom_size(rings, shape_))),
      doorbell_(make_doorbell()),
      mapping_(memory_.get(), mailroom_size(rings, shape_)) {}

Mailroom::Mailroom(UniqueFd memory, UniqueFd doorbell, int rings)
    : rings_(rings),
      shape_(ring_shape(rings - 1)),
      memory_(std::move(memory)),
      doorbell_(std::move(doorbell)) {
  check_size();
  mapping_ = Mapping(memory_.get(), mailroom_size(rings, shape_));
}

// A mapping beyond the end of the file would end in SIGBUS at some later moment.
void Mailroom::check_size() const {
  struct stat info {};
  const bool known = ::fstat(memory_.get(), &info) == 0;
  if (!known || static_cast<std::size_t>(info.st_size) != mailroom_size(rings_, shape_))
    fail(Errc::connection,
         "a peer's shared memory has {} bytes instead of {}; do all ranks run the same build?",
         known ? info.st_size : 0, mailroom_size(rings_, shape_));
}

std::byte* Mailroom::ring(int index) const {
  return mapping_.data() + header_bytes + static_cast<std::size_t>(index) * shape_.bytes();
}

SharedArea& Mailroom::area(int index) const {
  std::byte* const first = mapping_.data() + areas_begin(rings_, shape_);
  return reinterpret_cast<SharedArea*>(first)[index];
}

void Mailroom::ring_bell() noexcept {
  const std::uint64_t one = 1;
  // EAGAIN: it rings already.
  [[maybe_unused]] const auto written = ::write(doorbell_.get(), &one, sizeof one);
}

void Mailroom::silence_bell() noexcept {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto taken = ::read(doorbell_.get(), &count, sizeof count);
}

Claims::Claims(Mailroom& own) : header_(own.header()), generation_(claim_count) {
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

bool begin_copy(Mailroom& sender, ClaimRef claim) {
  std::uint64_t expected = word(claim, offered);
  return sender.claim(claim).word.compare_exchange_strong(expected, word(claim, copying));
}

void end_copy(Mailroom& sender, ClaimRef claim) { sender.claim(claim).word.store(word(claim, finished)); }

namespace {

struct Published {
  std::shared_ptr<Mailroom> mailroom;  // nullptr: renounced
  int visitors = 0;
};

struct ExchangeState {
  std::mutex mutex;
  std::map<std::uint64_t, Published> mailrooms;
};

ExchangeState& exchange_state() {
  static auto* state = new ExchangeState;  // ranks may outlive main's statics
  return *state;
}

}  // namespace

void MailroomExchange::publish(std::uint64_t id, std::shared_ptr<Mailroom> mailroom, int visitors) {
  if (visitors == 0) return;
  auto& state = exchange_state();
  std::lock_guard lock(state.mutex);
  state.mailrooms[id] = {std::move(mailroom), visitors};
}

void MailroomExchange::renounce(std::uint64_t id) {
  auto& state = exchange_state();
  std::lock_guard lock(state.mutex);
  state.mailrooms[id] = {};
}

std::shared_ptr<Mailroom> MailroomExchange::find(std::uint64_t id) {
  auto& state = exchange_state();
  std::lock_guard lock(state.mutex);
  const auto it = state.mailrooms.find(id);
  if (it == state.mailrooms.end()) return nullptr;
  if (!it->second.mailroom) fail(Errc::peer_failed, "it gave up while the ranks were connecting");
  auto mailroom = it->second.mailroom;
  if (--it->second.visitors == 0) state.mailrooms.erase(it);
  return mailroom;
}

}  // namespace dist::net
