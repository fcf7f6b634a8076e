#include "dist/group/flight_recorder.h"

#include <algorithm>

#include <fmt/format.h>

#include "dist/core/op_kind.h"
#include "dist/core/tasking.h"

namespace dist {

std::string_view name(RecordState state) {
  switch (state) {
    case RecordState::issued: return "issued";
    case RecordState::running: return "running";
    case RecordState::completed: return "completed";
    case RecordState::failed: return "failed";
  }
  __builtin_unreachable();
}

std::string FlightRecord::doing() const {
  return describe_call(operation, sequence, count < 0 ? "" : fmt::format("{} {}", count, name(dtype)));
}

std::string FlightRecord::what() const { return fmt::format("{} at {}", doing(), where.str()); }

FlightRecorder::FlightRecorder(std::size_t capacity) : ring_(capacity) {}

void FlightRecorder::name_group(std::uint32_t group, std::string name, Members members) {
  std::lock_guard lock(mutex_);
  groups_[group] = {std::move(name), std::move(members), {}};
}

std::string FlightRecorder::group_name(std::uint32_t group) const {
  std::lock_guard lock(mutex_);
  const auto found = groups_.find(group);
  return found == groups_.end() ? "" : found->second.name;
}

std::map<std::uint32_t, FlightRecorder::Group> FlightRecorder::groups() const {
  std::lock_guard lock(mutex_);
  return groups_;
}

bool FlightRecorder::knows_all_open() const {
  std::lock_guard lock(mutex_);
  return lost_ == 0;
}

std::uint64_t FlightRecorder::issued(const FlightRecord& record) {
  const auto now = Clock::now();
  std::lock_guard lock(mutex_);
  FlightRecord& slot = ring_[next_id_ % ring_.size()];
  if (slot.id != 0 && !slot.is_over()) ++lost_;
  if (!last_group_.second || last_group_.first != record.group)
    last_group_ = {record.group, &groups_[record.group]};
  auto& begun = last_group_.second->begun[static_cast<std::size_t>(record.family)];
  begun = std::max(begun, record.sequence + 1);
  slot = record;
  slot.id = next_id_++;
  slot.issued = now;
  return slot.id;
}

FlightRecord* FlightRecorder::find_locked(std::uint64_t id) {
  FlightRecord& slot = ring_[id % ring_.size()];
  return slot.id == id ? &slot : nullptr;
}

void FlightRecorder::started(std::uint64_t id, std::string_view algorithm) {
  const auto now = Clock::now();
  std::lock_guard lock(mutex_);
  if (FlightRecord* record = find_locked(id)) {
    record->state = RecordState::running;
    record->algorithm = algorithm;
    record->started = now;
  }
}

void FlightRecorder::completed(std::uint64_t id) {
  const auto now = Clock::now();
  std::lock_guard lock(mutex_);
  if (FlightRecord* record = end_locked(id, RecordState::completed)) record->ended = now;
}

void FlightRecorder::failed(std::uint64_t id, std::string_view error) {
  const auto now = Clock::now();
  std::lock_guard lock(mutex_);
  FlightRecord* const record = end_locked(id, RecordState::failed);
  if (!record) return;
  record->ended = now;
  record->error = error;
}

FlightRecord* FlightRecorder::end_locked(std::uint64_t id, RecordState state) {
  FlightRecord* const record = find_locked(id);
  if (record)
    record->state = state;
  else if (lost_ > 0)
    --lost_;
  return record;
}

void FlightRecorder::waiting(std::uint64_t id, bool yes) {
  std::lock_guard lock(mutex_);
  if (FlightRecord* record = find_locked(id)) record->blocks = yes;
}

std::vector<FlightRecord> FlightRecorder::snapshot() const {
  std::lock_guard lock(mutex_);
  std::vector<FlightRecord> records;
  const std::uint64_t oldest = next_id_ > ring_.size() ? next_id_ - ring_.size() : 1;
  for (std::uint64_t id = oldest; id < next_id_; ++id) records.push_back(ring_[id % ring_.size()]);
  return records;
}

Activity FlightRecorder::activity() const {
  constexpr int longest_list = 3;
  const auto now = Clock::now();
  const auto records = snapshot();
  Activity activity;
  int open = 0;
  for (const auto& record : records) {
    if (record.is_over()) continue;
    if (++open > longest_list) continue;
    if (open == 1) activity.age = now - record.issued;
    activity.what += fmt::format("{}{}", open == 1 ? "in " : " and ", record.what());
  }
  if (open > longest_list) activity.what += fmt::format(" and {} more", open - longest_list);
  if (open > 0) return activity;
  if (records.empty()) return {"in no operation and has not begun one", {}};
  const auto& last = records.back();
  return {fmt::format("in no operation; its last, {}, {}", last.what(), name(last.state)), now - last.ended};
}

}  // namespace dist
