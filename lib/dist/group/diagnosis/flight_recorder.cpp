// The flight recorder beyond what every call needs (that is in the header). started(), completed() and
// failed() follow a call; keep_open_locked() saves calls that are still open when the ring overwrites them;
// snapshot(), activity(), find() and stood_in() answer what the rank is doing.
#include "dist/group/diagnosis/flight_recorder.h"

#include <fmt/format.h>

#include "dist/core/op_kind.h"
#include "dist/core/tasking.h"
#include "dist/group/diagnosis/flight_dump.h"
#include "dist/group/group_state.h"

namespace dist {
namespace {

bool has_root(OpKind kind) {
  return kind == OpKind::broadcast || kind == OpKind::reduce || kind == OpKind::scatter ||
         kind == OpKind::gather;
}

}  // namespace

void write_down(const GroupState& group, const Operation& operation, FlightCall& record) {
  record.family = is_collective(operation.kind) ? CallFamily::collective : CallFamily::message;
  record.operation = name(operation.kind);
  record.group = group.identity.context;
  record.sequence = operation.sequence;
  if (operation.kind != OpKind::barrier) {
    record.count = operation.count();
    record.dtype = operation.dtype();
  }
  if (has_root(operation.kind)) record.root = group.global_rank_of(operation.root);
  if (!is_collective(operation.kind) && operation.peer != any_rank) {
    record.peer = group.global_rank_of(operation.peer);
  }
  if (!is_collective(operation.kind)) record.tag = operation.tag;
  record.where = operation.where;
}

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
  return describe_call(operation, sequence, Amount{count, dtype}.str());
}

std::string FlightRecord::what() const { return fmt::format("{} at {}", doing(), where.str()); }

FlightRecorder::FlightRecorder(std::size_t capacity) : ring_(capacity) {}

void FlightRecorder::name_group(std::uint32_t group, std::string name, Members members) {
  std::lock_guard lock(lock_);
  groups_[group] = {std::move(name), std::move(members), {}};
}

std::string FlightRecorder::group_name(std::uint32_t group) const {
  std::lock_guard lock(lock_);
  const auto found = groups_.find(group);
  return found == groups_.end() ? "" : found->second.name;
}

std::map<std::uint32_t, FlightRecorder::Group> FlightRecorder::groups() const {
  std::lock_guard lock(lock_);
  return groups_;
}

bool FlightRecorder::knows_all_open() const {
  std::lock_guard lock(lock_);
  return lost_ == 0;
}

// Keeps an entry that the ring overwrites. The calls that block a thread are few, and all of them are kept,
// because the code that frees what such threads use asks for them.
void FlightRecorder::keep_open_locked(const Entry& entry) {
  constexpr std::size_t most_kept = 4096;
  if (entry.call.blocks || overwritten_.size() < most_kept)
    overwritten_.emplace(entry.id, entry);
  else
    ++lost_;
}

FlightRecorder::Entry* FlightRecorder::in_ring_locked(std::uint64_t id) {
  if (last_ && last_->id == id) return last_;
  Entry& entry = ring_[(id - 1) % ring_.size()];
  return entry.id == id ? &entry : nullptr;
}

const FlightRecorder::Entry* FlightRecorder::find_locked(std::uint64_t id) const {
  if (const Entry* const entry = const_cast<FlightRecorder*>(this)->in_ring_locked(id)) return entry;
  const auto found = overwritten_.find(id);
  return found == overwritten_.end() ? nullptr : &found->second;
}

void FlightRecorder::started(std::uint64_t id, std::string_view algorithm) {
  std::lock_guard lock(lock_);
  Entry* const entry = find_locked(id);
  if (!entry) return;
  entry->state = RecordState::running;
  entry->call.algorithm = algorithm;
  // The rank is inside the call: too little time has passed to read the clock again.
  entry->started = entry->call.blocks && entry == last_ ? entry->issued : clock_.now();
}

void FlightRecorder::completed(std::uint64_t id) {
  const std::uint64_t now = clock_.now();
  std::lock_guard lock(lock_);
  if (Entry* const entry = end_locked(id, RecordState::completed)) entry->ended = now;
}

void FlightRecorder::failed(std::uint64_t id, std::string_view error) {
  const std::uint64_t now = clock_.now();
  std::lock_guard lock(lock_);
  Entry* const entry = end_locked(id, RecordState::failed);
  if (!entry) return;
  entry->ended = now;
  entry->error = error;
}

FlightRecorder::Entry* FlightRecorder::end_locked(std::uint64_t id, RecordState state) {
  Entry* const entry = in_ring_locked(id);
  if (entry)
    entry->state = state;
  else if (overwritten_.erase(id) == 0 && lost_ > 0)
    --lost_;
  return entry;
}

void FlightRecorder::waiting(std::uint64_t id, bool yes) {
  std::lock_guard lock(lock_);
  if (Entry* const entry = find_locked(id))
    entry->call.blocks = yes;
  else if (yes)
    waits_for_lost_.insert(id);
  else
    waits_for_lost_.erase(id);
}

FlightRecord FlightRecorder::record_of(const Entry& entry, const TickClock::Reading& now) const {
  const auto time_of = [&](std::uint64_t ticks) {
    return ticks == 0 ? FlightRecord::Time{} : clock_.time_of(ticks, now);
  };
  FlightRecord record;
  static_cast<FlightCall&>(record) = entry.call;
  record.id = entry.id;
  record.state = entry.state;
  if (entry.state == RecordState::failed) record.error = entry.error;
  record.issued = time_of(entry.issued);
  record.started = time_of(entry.started);
  record.ended = time_of(entry.ended);
  return record;
}

std::vector<FlightRecord> FlightRecorder::snapshot() const {
  std::lock_guard lock(lock_);
  std::vector<FlightRecord> records;
  const TickClock::Reading now = clock_.read();
  for (const auto& [id, entry] : overwritten_) records.push_back(record_of(entry, now));
  const std::uint64_t oldest = next_id_ > ring_.size() ? next_id_ - ring_.size() : 1;
  for (std::uint64_t id = oldest; id < next_id_; ++id)
    records.push_back(record_of(ring_[(id - 1) % ring_.size()], now));
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
  return {fmt::format("in no operation; the last, {}, {}", last.what(), name(last.state)), now - last.ended};
}

std::optional<FlightRecord> FlightRecorder::find(std::uint64_t id) const {
  const std::lock_guard lock(lock_);
  const Entry* const entry = find_locked(id);
  if (entry == nullptr) return std::nullopt;
  return record_of(*entry, clock_.read());
}

std::vector<FlightRecord> FlightRecorder::stood_in() const {
  auto records = snapshot();
  std::erase_if(records, [](const FlightRecord& record) { return !record.blocks || record.is_over(); });
  const std::lock_guard lock(lock_);
  for (const std::uint64_t id : waits_for_lost_) {
    FlightRecord record;
    record.operation = "wait";
    record.id = id;
    record.blocks = true;
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace dist
