// RankTracer: the events of one rank of a real run. Calls come from the code that runs the rank; messages,
// waits and reductions come from the traced endpoint (group/diagnosis/traced_endpoint.h).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "dist/trace/call.h"
#include "dist/trace/event.h"
#include "dist/trace/message_numbers.h"
#include "dist/trace/recorder.h"

namespace dist::trace {

// What the transfers of a call inherit from it.
struct CallNow {
  Event event;
  bool async, may_reduce;
  Offsets offsets;
};

// Thread-safe.
class RankTracer {
 public:
  using Clock = std::chrono::steady_clock;

  RankTracer(int rank, int ranks, std::string title);

  // Events are recorded from now on; `origin` is time 0 of all ranks. To be called once.
  void start(Clock::time_point origin);
  bool is_running() const { return running_.load(std::memory_order_acquire); }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  // Picoseconds since the origin; 0 for anything earlier.
  std::int64_t at(Clock::time_point time) const;
  std::int64_t now() const { return at(Clock::now()); }

  void call_begins(Call call);
  // Which algorithm a call runs, before any of its transfers; ignored for a call that is not open.
  void call_runs(std::uint64_t record, std::string_view algorithm, bool in_shared_memory);
  void call_ends(std::uint64_t record, Ending ending);  // ignored for a call that is not open
  std::shared_ptr<const CallNow> find_call(std::uint32_t context, bool point_to_point, std::uint64_t number);

  void add(Event event);
  // The rank was blocked until now; less than a microsecond does not count as a wait. `like` says what it
  // waited for.
  void waited(const Event& like, std::int64_t begin);

  // The numbers of the rank's point-to-point messages; a collective has its own.
  const std::shared_ptr<MessageNumbers>& message_numbers() const { return numbers_; }

  // Marks what is still open as cut off now; nothing more is added.
  Trace take();

 private:
  struct Open {
    std::uint64_t number;
    bool point_to_point;
    std::shared_ptr<const CallNow> call;
  };
  void add_call(const CallNow& call, std::int64_t end, Ending ending);

  const int rank_, ranks_;
  Recorder recorder_;
  const std::shared_ptr<MessageNumbers> numbers_;
  std::atomic<bool> running_{false};
  Clock::time_point origin_;
  std::mutex mutex_;
  std::map<std::uint64_t, Open> open_;  // by record
};

}  // namespace dist::trace
