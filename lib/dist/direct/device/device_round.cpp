// A round on device memory. publish_copy() publishes a copy, publish_in_place() the memory itself,
// publish_nothing() nothing; post() puts it into the host's notice, publish_list() all of it as one part.
// of() and listed() wait for another rank's notice and make the stream wait for its data; close() signals
// that this rank is done; finish() waits until the others are.
#include "dist/direct/device/device_round.h"

#include <algorithm>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/kernels.h"
#include "dist/core/log.h"
#include "dist/core/round_up.h"
#include "dist/core/view_list.h"
#include "dist/transport/opcode.h"

namespace dist {

namespace {

constexpr std::size_t part_alignment = 64;  // bytes: each part in a room starts at a multiple of it

std::size_t padded(std::size_t bytes) { return round_up(bytes, part_alignment); }

// A place in a notice, which has elements of the operation's dtype.
std::int64_t place_count(DType dtype) {
  return static_cast<std::int64_t>(sizeof(DevicePlace) / size_of(dtype));
}

TensorView view_of(std::span<DevicePlace> places, DType dtype) {
  return {reinterpret_cast<std::byte*>(places.data()),
          static_cast<std::int64_t>(places.size()) * place_count(dtype), dtype, cpu};
}

}  // namespace

DeviceRound::DeviceRound(DevicePeers& peers, const RoundTerms& terms, const CallLabel& label)
    : peers_(peers),
      terms_(terms),
      label_(label),
      dtype_(dtype_of(terms.opcode)),
      stream_(current_stream(peers.device_)),
      is_ready_(rank_index(peers.size())) {
  ++peers_.round_;
  peers_.stream_ = stream_;
  notices_.emplace(peers_.hosts_, terms_, label_);
}

// The other ranks must not wait for this rank, whatever ended the round; but they must learn that its part is
// missing.
DeviceRound::~DeviceRound() {
  try {
    if (!closed_) close();
  } catch (const std::exception& error) {
    log(LogLevel::info, "a rank that gives up could not notify the others: {}", error.what());
  }
}

bool DeviceRound::fits(std::size_t bytes, std::size_t parts) {
  return bytes + parts * part_alignment <= room_bytes + part_alignment;  // the last part needs no padding
}

// The room was last used `round_depth` rounds ago; every rank must have read it.
void DeviceRound::make_room() {
  if (peers_.round_ <= StreamSignals::round_depth) return;
  const Signal read{Point::done, peers_.round_ - StreamSignals::round_depth};
  for (int r = 0; r < size(); ++r)
    if (r != rank()) peers_.signals_->await(r, read, stream_);
}

void DeviceRound::publish_copy(std::span<const TensorView> parts) {
  make_room();
  const TensorView room = peers_.room(peers_.round_);
  std::vector<TensorView> copies;
  std::size_t at = 0;
  for (const TensorView& part : parts) {
    copies.push_back({room.data + at, part.count, part.dtype, part.device});
    copy(copies.back(), part);
    at += padded(part.bytes());
  }
  post(copies);
}

void DeviceRound::publish_in_place(std::span<const TensorView> parts, int to, bool) {
  lends_ = true;
  lent_to_ = to;
  post(parts);
}

std::vector<DevicePlace> DeviceRound::places_of(std::span<const TensorView> parts) {
  std::vector<DevicePlace> places;
  places.reserve(parts.size());
  for (const TensorView& part : parts) {
    places.push_back(peers_.place_of(part));
    places.back().exposed = lends_;
  }
  return places;
}

void DeviceRound::post(std::span<const TensorView> parts) {
  std::vector<DevicePlace> places = places_of(parts);
  ViewList views(parts.size());
  for (std::size_t i = 0; i < places.size(); ++i) views.set(i, view_of({&places[i], 1}, dtype_));
  if (!Round::fits(total_bytes(views), views.size()))
    fail(Errc::unsupported,
         "{}: {} tensors are more than device memory can be shared in at once; use fewer ranks",
         label_.options().label.name, parts.size());
  peers_.signals_->signal({Point::ready, peers_.round_}, stream_);
  notices_->publish_copy(views);
}

bool DeviceRound::can_list(int parts) {
  return Round::fits(static_cast<std::size_t>(parts) * sizeof(DevicePlace));
}

// The places are one part of the notice.
void DeviceRound::publish_list(std::span<const TensorView> parts) {
  lends_ = true;
  lent_to_ = workers;
  std::vector<DevicePlace> places = places_of(parts);
  peers_.signals_->signal({Point::ready, peers_.round_}, stream_);
  notices_->publish_copy(view_of(places, dtype_));
}

TensorView DeviceRound::listed(const Listed& which) {
  const TensorView list = notices_->of(which.rank, which.parts * place_count(dtype_));
  const DevicePlace& place = reinterpret_cast<const DevicePlace*>(list.data)[which.part];
  const auto count = static_cast<std::int64_t>(place.bytes / size_of(dtype_));
  TensorView view{nullptr, count, dtype_, peers_.device_};
  if (!works() || count == 0) return view;
  view.data = peers_.reach(which.rank, place, label_);
  await_ready(which.rank);
  return view;
}

void DeviceRound::check_sizes(int to, const TensorView& out, int from, const TensorView& in) const {
  if (out.count == in.count) return;
  fail(Errc::mismatch,
       "rank {}: {}: group rank {} wants {} of group rank {}, which has {}; do all ranks pass equal sizes?",
       label_.options().members[rank()], str(label_.options().label), to, counted(out.bytes(), "byte"), from,
       in.bytes());
}

void DeviceRound::publish_nothing() {
  peers_.signals_->signal({Point::ready, peers_.round_}, stream_);
  notices_->publish_nothing();
}

void DeviceRound::await_ready(int rank) {
  if (is_ready_[rank_index(rank)] || rank == this->rank()) return;
  peers_.signals_->await(rank, {Point::ready, peers_.round_}, stream_);
  is_ready_[rank_index(rank)] = true;
}

void DeviceRound::wait_for(int rank) {
  notices_->wait_for(rank);
  await_ready(rank);
}

TensorView DeviceRound::of(int rank, std::int64_t count, int part) {
  const auto& place =
      *reinterpret_cast<const DevicePlace*>(notices_->of(rank, place_count(dtype_), part).data);
  const std::uint64_t bytes = place.bytes;
  seen_in_place_ = place.exposed;
  TensorView view{nullptr, count, dtype_, peers_.device_};
  if (view.bytes() != bytes)
    fail(Errc::mismatch,
         "rank {}: {} wants {} of group rank {}, which has {}; do all ranks pass equal sizes?",
         label_.options().members[this->rank()], str(label_.options().label), counted(view.bytes(), "byte"),
         rank, bytes);
  if (lent_to_ == workers && !works()) return view;
  view.data = count == 0 ? nullptr : peers_.reach(rank, place, label_);
  await_ready(rank);
  return view;
}

// This rank has enqueued everything it does in this round. Where a signal may be waited for only after it was
// made, the hosts notify each other of it.
void DeviceRound::close() {
  closed_ = true;
  peers_.signals_->signal({Point::done, peers_.round_}, stream_);
  notices_.reset();
  if (!peers_.signals_->needs_meeting()) return;
  notices_.emplace(peers_.hosts_, terms_, label_);
  notices_->publish_nothing();
}

bool DeviceRound::is_exposed_to(int rank) const {
  if (lent_to_ == workers) return peers_.is_worker(rank);
  return lent_to_ == everybody || lent_to_ == rank;
}

// A rank that does not work must see that its workers call the same.
void DeviceRound::finish() {
  for (int r = 0; lends_ && lent_to_ == workers && r < size(); ++r)
    if (peers_.is_worker(r)) notices_->wait_for(r);
  close();
  if (!lends_) return;
  peers_.check(label_);  // a rank without others has waited for no rank
  for (int r = 0; r < size(); ++r) {
    if (r == rank() || !is_exposed_to(r)) continue;
    if (notices_) notices_->wait_for(r);
    peers_.check(label_);
    peers_.signals_->await(r, {Point::done, peers_.round_}, stream_);
  }
}

void DeviceRound::give_up() noexcept {
  if (notices_) notices_->give_up();
  peers_.give_up();
}

}  // namespace dist
