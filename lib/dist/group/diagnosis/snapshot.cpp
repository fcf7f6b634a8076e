// take_snapshot() makes a rank's snapshot from its flight recorder; encode() and decode_snapshot() carry it
// as JSON through the store.
#include "dist/group/diagnosis/snapshot.h"

#include <algorithm>

#include "dist/core/fail.h"
#include "dist/core/json.h"
#include "dist/core/json_error.h"
#include "dist/core/tasking.h"

namespace dist {
namespace {

constexpr std::size_t most_calls = 32, most_failed = 4;

SnapshotCall call_of(const FlightRecord& record, const FlightRecorder::Group& group, FlightRecord::Time now) {
  SnapshotCall call;
  call.record = record.id;
  call.name = record.operation;
  call.doing = record.doing();
  call.where = record.where;
  call.family = record.family;
  call.blocks = record.blocks;
  call.failed = record.is_over();
  call.age = std::chrono::duration_cast<std::chrono::milliseconds>(now - record.issued);
  call.members = group.members.list();
  if (record.group != 0) call.group_name = group.name;
  call.group = {record.group, call.members.empty() ? -1 : call.members.front()};
  call.sequence = record.sequence;
  call.tag = record.tag;
  call.peer = record.peer;
  call.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(record.count, 0)) * size_of(record.dtype);
  return call;
}

Json to_json(const SnapshotCall& call) {
  return {call.record,   call.name,   call.doing,       call.where.str(),   static_cast<int>(call.family),
          call.blocks,   call.failed, call.age.count(), call.group.context, call.members,
          call.sequence, call.tag,    call.bytes,       call.peer,          call.group_name};
}

SnapshotCall call_from(const Json& json) {
  SnapshotCall call;
  std::size_t i = 0;
  const auto next = [&](auto& value) { json.at(i++).get_to(value); };
  std::string where;
  int family = 0;
  std::int64_t age_ms = 0;
  next(call.record), next(call.name), next(call.doing), next(where), next(family), next(call.blocks);
  next(call.failed), next(age_ms), next(call.group.context), next(call.members), next(call.sequence);
  next(call.tag), next(call.bytes), next(call.peer), next(call.group_name);
  call.where = CallSite::parse(where);
  call.family = static_cast<CallFamily>(family);
  call.age = std::chrono::milliseconds(age_ms);
  call.group.first = call.members.empty() ? -1 : call.members.front();
  return call;
}

}  // namespace

const SnapshotCall* Snapshot::find(std::uint64_t record) const {
  const auto found = std::ranges::find(calls, record, &SnapshotCall::record);
  return found == calls.end() ? nullptr : &*found;
}

Snapshot take_snapshot(const FlightLog& log) {
  const FlightRecorder& recorder = log.recorder;
  const auto records = recorder.snapshot();
  const auto now = Clock::now();
  Snapshot snapshot;
  snapshot.rank = log.rank;
  snapshot.state = Snapshot::State::present;
  const Activity activity = recorder.activity();
  snapshot.activity = activity.what;
  snapshot.activity_s = std::chrono::duration<double>(activity.age).count();
  const auto groups = recorder.groups();
  for (const auto& [context, group] : groups) {
    const int first = group.members.size() > 0 ? group.members[0] : -1;
    for (std::size_t family = 0; family < call_families; ++family)
      snapshot.begun.push_back({{context, first}, static_cast<CallFamily>(family), group.begun[family]});
  }
  std::size_t open = 0, failed = 0;
  for (auto record = records.rbegin(); record != records.rend(); ++record) {
    const bool is_wanted = !record->is_over()
                               ? ++open <= most_calls
                               : record->state == RecordState::failed && ++failed <= most_failed;
    if (is_wanted) snapshot.calls.push_back(call_of(*record, groups.at(record->group), now));
  }
  std::ranges::reverse(snapshot.calls);
  snapshot.is_complete = open <= most_calls && recorder.knows_all_open();
  return snapshot;
}

std::string encode(const Snapshot& snapshot) {
  Json calls = Json::array(), begun = Json::array();
  for (const SnapshotCall& call : snapshot.calls) calls.push_back(to_json(call));
  for (const auto& [group, family, count] : snapshot.begun)
    begun.push_back({group.context, group.first, static_cast<int>(family), count});
  const Json json{snapshot.rank,        snapshot.activity, snapshot.activity_s,
                  snapshot.is_complete, std::move(calls),  std::move(begun)};
  return json_text(json, -1, BadBytes::replace);
}

Snapshot decode_snapshot(const std::string& text) {
  try {
    const Json json = parse_json(text);
    Snapshot snapshot;
    snapshot.state = Snapshot::State::present;
    json.at(0).get_to(snapshot.rank);
    json.at(1).get_to(snapshot.activity);
    json.at(2).get_to(snapshot.activity_s);
    json.at(3).get_to(snapshot.is_complete);
    for (const Json& call : json.at(4)) snapshot.calls.push_back(call_from(call));
    for (const Json& b : json.at(5))
      snapshot.begun.push_back({{b.at(0).get<std::uint32_t>(), b.at(1).get<int>()},
                                static_cast<CallFamily>(b.at(2).get<int>()),
                                b.at(3).get<std::uint64_t>()});
    return snapshot;
  } catch (const Json::exception& error) {
    fail(Errc::internal, "a rank's snapshot of {} bytes is damaged: {}", text.size(),
         json_error(error.what()));
  }
}

}  // namespace dist
