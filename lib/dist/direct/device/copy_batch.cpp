#include "dist/direct/device/copy_batch.h"

namespace dist {

namespace {

// How long a message that was offered waits for the rest of its batch: as long as a launch takes.
constexpr std::chrono::microseconds wait_for_batch{20};

}  // namespace

CopyBatch::CopyBatch(DeviceMessages& messages, Device device, int receives)
    : messages_(messages), device_(device), ready_(messages.take_lane(device)), missing_(receives) {
  ready_->event.record(current_stream(device));
}

CopyBatch::~CopyBatch() {
  messages_.give_back(std::move(ready_));
  for (auto& lane : launches_) messages_.give_back(std::move(lane));
}

std::size_t CopyBatch::add(const TensorView& to, const TensorView& from) {
  const std::scoped_lock lock(mutex_);
  if (tos_.empty()) since_ = Clock::now();
  tos_.push_back(to);
  froms_.push_back(from);
  --missing_;
  const std::size_t launch = launches_.size();
  launch_if_due();
  return launch;
}

void CopyBatch::leave() {
  const std::scoped_lock lock(mutex_);
  --missing_;
  launch_if_due();
}

void CopyBatch::seal() {
  const std::scoped_lock lock(mutex_);
  sealed_ = true;
}

void CopyBatch::launch_if_due() {
  if (tos_.empty() || (missing_ > 0 && (!sealed_ || Clock::now() - since_ < wait_for_batch))) return;
  auto lane = messages_.take_lane(device_);
  make_wait(lane->stream.handle());
  std::vector<PartViews> parts;
  for (std::size_t i = 0; i < tos_.size(); ++i)
    if (tos_[i].count > 0) parts.push_back({.outs = {&tos_[i], 1}, .ins = {&froms_[i], 1}});
  device_api(device_.type).copy_parts(device_, lane->stream.handle(), parts);
  lane->event.record(lane->stream.handle());
  launches_.push_back(std::move(lane));
  tos_.clear();
  froms_.clear();
}

bool CopyBatch::has_ended(std::size_t launch) {
  const std::scoped_lock lock(mutex_);
  launch_if_due();
  return launch < launches_.size() && launches_[launch]->event.is_done();
}

bool CopyBatch::wake_when_ended(std::size_t launch) {
  const std::scoped_lock lock(mutex_);
  if (launch >= launches_.size()) return false;
  messages_.wake(*launches_[launch]);
  return true;
}

}  // namespace dist
