// Flight recorder: the last operations of one rank, kept in a ring so that after a failure one can see what
// the rank was doing, and earlier operations that have not ended. Every operation is recorded, so an entry
// must cost little: some tens of nanoseconds, and no allocation unless very many are under way.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dist/core/biased_lock.h"
#include "dist/core/call_site.h"
#include "dist/core/spin_lock.h"
#include "dist/core/ticks.h"
#include "dist/core/types.h"
#include "dist/transport/members.h"

namespace dist {

struct GroupState;
struct Operation;

enum class RecordState : std::uint8_t { issued, running, completed, failed };

std::string_view name(RecordState state);  // "issued", ...

// The kinds of calls that a group numbers separately.
enum class CallFamily : std::uint8_t { collective, message, control };
inline constexpr std::size_t call_families = 3;

// A call as its rank records it.
struct FlightCall {
  CallFamily family = CallFamily::collective;
  bool blocks = false;         // the rank blocks until the call has ended
  std::string_view operation;  // "all_reduce"; static storage
  std::string_view algorithm;  // "ring", or empty; static storage
  std::uint32_t group = 0;     // its context number
  std::uint64_t sequence = 0;
  std::int64_t count = -1;  // elements; -1: the call moves none
  DType dtype = DType::u8;
  int root = -1;  // global ranks; -1: none
  int peer = -1;
  std::uint64_t tag = 0;  // for a message
  CallSite where;
};

// Fills in all but `blocks` and `algorithm`.
void write_down(const GroupState& group, const Operation& operation, FlightCall& record);

// What became of the call; filled in by the recorder.
struct FlightRecord : FlightCall {
  using Time = std::chrono::steady_clock::time_point;

  std::uint64_t id = 0;
  RecordState state = RecordState::issued;
  Time issued, started, ended;
  std::string error;

  bool is_over() const { return state == RecordState::completed || state == RecordState::failed; }
  std::string doing() const;  // "all_reduce #7 (4 f32)"
  std::string what() const;   // "all_reduce #7 (4 f32) at train.cpp:41"
};

// A rank's answer to the question what it is doing; `age`: for how long.
struct Activity {
  std::string what;  // "in all_reduce #7 (4 f32) at train.cpp:41", "in no operation; the last, ..."
  std::chrono::nanoseconds age{};
};

// Thread-safe.
class FlightRecorder {
 public:
  explicit FlightRecorder(std::size_t capacity);

  void name_group(std::uint32_t group, std::string name, Members members = {});
  // `fill(FlightCall&)` writes the call into its entry; it must not throw. Returns the entry's id, for the
  // calls below. Those do nothing when the operation is not known any more.
  template <class Fill>
  std::uint64_t issued_by(const Fill& fill);
  std::uint64_t issued(const FlightCall& call) {
    return issued_by([&](FlightCall& entry) { entry = call; });
  }
  void started(std::uint64_t id, std::string_view algorithm);
  void completed(std::uint64_t id);
  void failed(std::uint64_t id, std::string_view error);
  void waiting(std::uint64_t id, bool yes);  // sets `blocks`

  std::vector<FlightRecord> snapshot() const;  // oldest first
  std::string group_name(std::uint32_t group) const;
  struct Group {
    std::string name;
    Members members;
    std::array<std::uint64_t, call_families> begun{};  // counts calls, including overwritten ones
  };
  std::map<std::uint32_t, Group> groups() const;
  bool knows_all_open() const;  // false: too many were under way to keep all
  Activity activity() const;
  std::optional<FlightRecord> find(std::uint64_t id) const;  // nullopt when it is not known any more
  std::vector<FlightRecord> stood_in() const;                // the calls in which threads are blocked

 private:
  struct Entry {
    FlightCall call;
    std::uint64_t id = 0;
    RecordState state = RecordState::issued;
    std::uint64_t issued = 0, started = 0, ended = 0;  // ticks
    std::string error;

    bool is_over() const { return state == RecordState::completed || state == RecordState::failed; }
  };
  // Recycles the oldest entry as the newest one, and numbers it.
  Entry& begin_locked();
  std::uint64_t end_begin_locked(Entry& entry);
  Entry& next_locked() { return last_ == nullptr || last_ == &ring_.back() ? ring_.front() : last_[1]; }
  Group& group_locked(std::uint32_t group);
  FlightRecord record_of(const Entry& entry, const TickClock::Reading& now) const;
  void keep_open_locked(const Entry& entry);
  Entry* in_ring_locked(std::uint64_t id);
  Entry* find_locked(std::uint64_t id) { return const_cast<Entry*>(std::as_const(*this).find_locked(id)); }
  const Entry* find_locked(std::uint64_t id) const;
  Entry* end_locked(std::uint64_t id, RecordState state);  // null: it is not in the ring any more

  const TickClock clock_;
  mutable BiasedLock<SpinLock> lock_;  // guards everything below
  std::vector<Entry> ring_;
  Entry* last_ = nullptr;  // the newest
  std::uint64_t next_id_ = 1;
  std::map<std::uint32_t, Group> groups_;
  std::pair<std::uint32_t, Group*> last_group_{0, nullptr};  // the group of the latest operation
  std::map<std::uint64_t, Entry> overwritten_;               // by id: those that are still under way
  std::uint64_t lost_ = 0;                                   // how many under way could not be kept
  std::set<std::uint64_t> waits_for_lost_;
};

// These are in the header because they are part of every call.

inline FlightRecorder::Entry& FlightRecorder::begin_locked() {
  Entry& entry = next_locked();
  if (entry.id != 0 && !entry.is_over()) keep_open_locked(entry);
  entry.call = {};
  entry.started = entry.ended = 0;
  return entry;
}

inline FlightRecorder::Group& FlightRecorder::group_locked(std::uint32_t group) {
  if (!last_group_.second || last_group_.first != group) last_group_ = {group, &groups_[group]};
  return *last_group_.second;
}

inline std::uint64_t FlightRecorder::end_begin_locked(Entry& entry) {
  const FlightCall& call = entry.call;
  auto& begun = group_locked(call.group).begun[static_cast<std::size_t>(call.family)];
  if (begun <= call.sequence) begun = call.sequence + 1;
  // A message needs no choice of an algorithm: if the rank blocks in the call, it is running.
  const bool runs = call.blocks && call.family == CallFamily::message;
  entry.state = runs ? RecordState::running : RecordState::issued;
  if (runs) entry.started = entry.issued;
  last_ = &entry;
  __builtin_prefetch(&next_locked(), 1);
  return entry.id = next_id_++;
}

template <class Fill>
std::uint64_t FlightRecorder::issued_by(const Fill& fill) {
  const std::uint64_t now = clock_.now();
  const std::lock_guard lock(lock_);
  Entry& entry = begin_locked();
  entry.issued = now;
  fill(entry.call);
  return end_begin_locked(entry);
}

}  // namespace dist
