// Messages through device memory. isend() offers the place of its data; take_what_came() finds the offers,
// accept()s them, enqueues the copies and acknowledge()s them by receipts; give_back() makes the sender's
// stream wait for that copy. await() runs all of this while it waits for one message.
#include "dist/direct/device/device_transport.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/kernels.h"

namespace dist {

DeviceTransport::DeviceTransport(DevicePeers& peers, Channels channels, const CallLabel& label,
                                 std::function<void()> look)
    : peers_(peers),
      channels_(std::move(channels)),
      label_(label),
      look_(std::move(look)),
      stream_(current_stream(peers.device_)) {
  peers_.stream_ = stream_;
}

// A sender is at most `message_depth` messages ahead: so an offer also says to its receiver that the signals
// with which both of them announce the message are free again.
Request DeviceTransport::isend(TensorView data, int dst) {
  const std::uint64_t id = next_++, number = ++post(dst).sent;
  while (number - post(dst).returned > StreamSignals::message_depth) {
    const auto oldest = std::ranges::find_if(
        sending_, [&](const auto& entry) { return entry.second.peer == dst && !entry.second.returned; });
    if (oldest == sending_.end()) break;  // it was given up
    await([&] { return oldest->second.came.is_completed(); });
    give_back(oldest->second);
  }
  Sending& sending = sending_.emplace(id, Sending{dst, number, {}, {}, {}}).first->second;
  DevicePlace place = peers_.place_of(lend(data, sending.lent));
  sending.came = channels_.receipts->irecv(as_bytes(sending.receipt), dst);
  signals().signal({Point::sent, number, dst}, stream_);
  channels_.offers->isend(as_bytes(place), dst).wait();  // small enough to be sent eagerly
  return {this, id};
}

Request DeviceTransport::irecv(TensorView data, int src) {
  const std::uint64_t id = next_++;
  Receiving& receiving =
      receiving_.emplace(id, Receiving{data, src, ++post(src).received, {}, {}}).first->second;
  receiving.came = channels_.offers->irecv(as_bytes(receiving.place), src);
  return {this, id};
}

TensorView DeviceTransport::lend(const TensorView& data, Scratch& lent) {
  if (peers_.maps(data)) return data;
  lent = scratch(data);
  copy(lent.all(), data);
  return lent.all();
}

// All that has arrived is copied by one launch: where several children of a tree have sent, or several
// segments have arrived, each copy of its own would cost as much as the launch.
bool DeviceTransport::take_what_came() {
  std::vector<Receiving*> came;
  for (auto& [id, receiving] : receiving_)
    if (!receiving.taken && receiving.came.is_completed()) came.push_back(&receiving);
  if (came.empty()) return false;
  std::vector<TensorView> theirs;
  for (Receiving* const receiving : came) theirs.push_back(accept(*receiving));
  std::vector<PartViews> parts;
  for (std::size_t i = 0; i < came.size(); ++i)
    if (theirs[i].count > 0) parts.push_back({.outs = {&came[i]->data, 1}, .ins = {&theirs[i], 1}});
  peers_.api_->copy_parts(peers_.device_, stream_, parts);
  for (Receiving* const receiving : came) acknowledge(*receiving);
  return true;
}

// Makes the stream wait for the data, and returns where it is.
TensorView DeviceTransport::accept(Receiving& receiving) {
  TensorView theirs = receiving.data;
  receiving.came.wait();
  if (const std::uint64_t sent = receiving.place.bytes; sent != theirs.bytes()) {
    const TransportOptions options = label_.options();
    fail(Errc::mismatch, "rank {}: {} expects {} of rank {}, which sends {}; do all ranks pass equal sizes?",
         options.members[rank()], str(options.label), counted(theirs.bytes(), "byte"),
         options.members[receiving.peer], sent);
  }
  signals().await(receiving.peer, {Point::sent, receiving.number, rank()}, stream_);
  if (theirs.count > 0) theirs.data = peers_.reach(receiving.peer, receiving.place, label_);
  return theirs;
}

void DeviceTransport::acknowledge(Receiving& receiving) {
  signals().signal({Point::taken, receiving.number, receiving.peer}, stream_);
  std::byte receipt{};
  channels_.receipts->isend(as_bytes(receipt), receiving.peer).wait();
  receiving.taken = true;
}

// The receipt has come. The receipts of one peer come in the order of the messages.
void DeviceTransport::give_back(Sending& sending) {
  sending.came.wait();
  signals().await(sending.peer, {Point::taken, sending.number, rank()}, stream_);
  ++post(sending.peer).returned;
  sending.returned = true;
}

// Handles all messages, whichever one this rank waits for: other ranks may wait for its receipts.
template <class Done>
void DeviceTransport::await(const Done& done) {
  while (!done()) {
    if (take_what_came()) continue;
    peers_.check(label_);
    look_();
  }
}

int DeviceTransport::wait(std::uint64_t id) {
  if (const auto found = receiving_.find(id); found != receiving_.end()) {
    await([&] { return found->second.taken; });
    return receiving_.extract(found).mapped().peer;
  }
  const auto found = sending_.find(id);
  await([&] { return found->second.returned || found->second.came.is_completed(); });
  if (!found->second.returned) give_back(found->second);
  return sending_.extract(found).mapped().peer;
}

bool DeviceTransport::test(std::uint64_t id) {
  take_what_came();
  if (const auto found = receiving_.find(id); found != receiving_.end()) return found->second.taken;
  Sending& sending = sending_.at(id);
  return sending.returned || sending.came.is_completed();
}

void DeviceTransport::cancel(std::uint64_t id) noexcept {
  sending_.erase(id);
  receiving_.erase(id);
}

Scratch DeviceTransport::scratch(const TensorView& like, std::int64_t count) {
  TensorView view{nullptr, count, like.dtype, peers_.device_};
  view.data =
      static_cast<std::byte*>(peers_.api_->allocate(peers_.device_, std::max<std::size_t>(view.bytes(), 1)));
  return {this, view};
}

void DeviceTransport::free_scratch(TensorView view) noexcept {
  peers_.api_->deallocate(peers_.device_, view.data);
}

}  // namespace dist
