// Flight recorder: the last operations of one rank, kept in a ring so that after a failure somebody can see
// what it was doing; and those before them that have not ended. Every operation is written down, so an entry
// must cost little: some tens of nanoseconds, and no allocation, unless very many are under way.
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

enum class RecordState : std::uint8_t { issued, running, completed, failed };

std::string_view name(RecordState state);  // "issued", ...

// What is numbered together: a group counts each of them by itself.
enum class CallFamily : std::uint8_t { collective, message, control };
inline constexpr std::size_t call_families = 3;

// A call as its rank writes it down.
struct FlightCall {
  CallFamily family = CallFamily::collective;
  bool blocks = false;         // the rank stands still until it has ended
  std::string_view operation;  // "all_reduce"; static storage
  std::string_view algorithm;  // "ring", or empty; static storage
  std::uint32_t group = 0;     // its context number
  std::uint64_t sequence = 0;
  std::int64_t count = -1;  // elements; -1: moves none
  DType dtype = DType::u8;
  int root = -1;  // global ranks, -1: has none
  int peer = -1;
  std::uint64_t tag = 0;  // of a message
  CallSite where;
};

// What became of it: filled in by the recorder.
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

// What a rank answers when it is asked what it is doing; `age` is how long it has been so.
struct Activity {
  std::string what;  // "in all_reduce #7 (4 f32) at train.cpp:41", "in no operation; the last, ..."
  std::chrono::nanoseconds age{};
};

// Thread-safe.
class FlightRecorder {
 public:
  explicit FlightRecorder(std::size_t capacity);

  void name_group(std::uint32_t group, std::string name, Members members = {});
  // `fill(FlightCall&)` writes the call down in place; it may not throw. Returns the entry's id, for the
  // calls below. They do nothing when the operation is not known any more.
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
    std::array<std::uint64_t, call_families> begun{};  // calls, also of those that have been overwritten
  };
  std::map<std::uint32_t, Group> groups() const;
  bool knows_all_open() const;  // false: so many were under way that some are not kept
  Activity activity() const;
  std::optional<FlightRecord> find(std::uint64_t id) const;  // nothing when it is not known any more
  std::vector<FlightRecord> stood_in() const;                // the calls in which threads stand still

 private:
  struct Entry {
    FlightCall call;
    std::uint64_t id = 0;
    RecordState state = RecordState::issued;
    std::uint64_t issued = 0, started = 0, ended = 0;  // ticks
    std::string error;

    bool is_over() const { return state == RecordState::completed || state == RecordState::failed; }
  };
  // The oldest entry, as new; and the newest: it gets its number.
  Entry& begin_locked();
  std::uint64_t end_begin_locked(Entry& entry);
  Entry& next_locked() { return last_ == nullptr || last_ == &ring_.back() ? ring_.front() : last_[1]; }
  Group& group_locked(std::uint32_t group);
  FlightRecord record_of(const Entry& entry, const TickClock::Reading& now) const;
  void keep_open_locked(const Entry& entry);
  Entry* in_ring_locked(std::uint64_t id);
  Entry* find_locked(std::uint64_t id) { return const_cast<Entry*>(std::as_const(*this).find_locked(id)); }
  const Entry* find_locked(std::uint64_t id) const;
  Entry* end_locked(std::uint64_t id, RecordState state);  // null: not in the ring any more

  const TickClock clock_;
  mutable BiasedLock<SpinLock> lock_;  // of all below
  std::vector<Entry> ring_;
  Entry* last_ = nullptr;  // the newest
  std::uint64_t next_id_ = 1;
  std::map<std::uint32_t, Group> groups_;
  std::pair<std::uint32_t, Group*> last_group_{0, nullptr};  // of the operation before
  std::map<std::uint64_t, Entry> overwritten_;               // by id, while they are under way
  std::uint64_t lost_ = 0;                                   // under way, and too many to be kept
  std::set<std::uint64_t> waits_for_lost_;
};

// All in the header: this is part of every call.

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
  // Nothing is chosen for a message: where the rank stands in the call, it runs.
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
