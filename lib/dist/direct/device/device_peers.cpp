// How the ranks of a group share device memory: check() and give_up() carry the news of a failure, settle()
// and leave() end the group's work. What outlives the group on other ranks' streams is kept forever
// (keep_for_ever). The group is set up in device_peers_setup.cpp.
#include "dist/direct/device/device_peers.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "dist/core/fail.h"
#include "dist/core/log.h"
#include "dist/direct/device/device_round.h"
#include "dist/transport/opcode.h"

namespace dist {
namespace {

void keep_for_ever(Tensor flags, Tensor rooms, std::unique_ptr<EventBoard> events) {
  struct Kept {
    std::mutex mutex;
    std::vector<Tensor> tensors;
    std::vector<std::unique_ptr<EventBoard>> events;
  };
  static auto* const kept = new Kept;
  const std::scoped_lock lock(kept->mutex);
  kept->tensors.push_back(std::move(flags));
  kept->tensors.push_back(std::move(rooms));
  kept->events.push_back(std::move(events));
}

}  // namespace

const RoundTerms DevicePeers::meeting{opcode_of(OpKind::barrier, DType::u8)};

DevicePeers::DevicePeers(PeerMemory& hosts, Device device)
    : hosts_(hosts),
      api_(device_api(device.type).shared_from_this()),
      device_(device),
      maps_(device),
      posts_(rank_index(hosts.size())) {
  hosts_.limit_lead(StreamSignals::round_depth);
}

DevicePeers::~DevicePeers() {
  const bool others_may_look = !pages_.empty() && !left_;
  if (others_may_look) give_up();
  signals_.reset();
  if (others_may_look) keep_for_ever(std::move(flags_), std::move(rooms_), std::move(events_));
}

// The flag is set first, so that a rank whose stream is released by the signals finds it.
void DevicePeers::give_up() noexcept {
  pages_[rank_index(rank())]->broken().store(1);
  if (signals_) signals_->release();
}

void DevicePeers::check(const CallLabel& label) {
  for (int r = 0; r < size(); ++r)
    if (r != rank() && pages_[rank_index(r)]->broken().load() != 0) hosts_.fail_given_up(label.options(), r);
}

std::byte* DevicePeers::reach(int rank, const DevicePlace& place, const CallLabel& label) {
  try {
    return address_of(rank, place);
  } catch (const Error&) {
    hosts_.fail_if_gone(label.options(), rank);
    throw;
  }
}

bool DevicePeers::settle(Timeout patience) noexcept {
  if (left_ || !stream_) return true;
  try {
    Event end(device_);
    end.record(stream_);
    const Deadline deadline = Deadline::after(patience);
    while (!end.is_done()) {
      if (deadline.passed()) return false;
      give_up();
      dist::sleep(std::chrono::microseconds(500));
    }
    return true;
  } catch (const std::exception& error) {
    log(LogLevel::info, "{} does not say whether its work has ended: {}", device_.str(), error.what());
    return false;
  }
}

// First the streams meet: afterwards no stream has work of earlier rounds left. Then the hosts meet:
// afterwards no rank's stream reads the signals any more.
void DevicePeers::leave(const CallLabel& label, const std::function<void()>& look) {
  {
    DeviceRound last(*this, meeting, label);
    last.publish_nothing();
    for (int r = 0; r < size(); ++r) last.wait_for(r);
  }
  Event end(device_);
  end.record(stream_);
  const Deadline deadline = label.options().deadline;
  while (!end.is_done()) {
    check(label);
    if (deadline.passed()) fail(Errc::timeout, "the work of this group on {} does not end", device_.str());
    look();
  }
  check(label);
  Round farewell(hosts_, meeting, label);
  farewell.publish_nothing();
  for (int r = 0; r < size(); ++r) farewell.wait_for(r);
  left_ = true;
}

int DevicePeers::worker_index(int rank) const {
  return static_cast<int>(std::ranges::lower_bound(workers_, rank) - workers_.begin());
}

bool DevicePeers::in_one_process() const {
  return std::ranges::all_of(same_process_, [](bool same) { return same; });
}

TensorView DevicePeers::room(std::uint64_t round) const {
  return rooms_.flat().slice(static_cast<std::int64_t>(round % StreamSignals::round_depth * room_bytes),
                             static_cast<std::int64_t>(room_bytes));
}

}  // namespace dist
