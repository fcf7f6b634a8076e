// WorkWatch: the CallObserver of a real rank. Says when a Work is dropped that nobody has waited for (D6),
// and lets the flight recorder know which asynchronous operations the rank stands still for.
#pragma once

#include <atomic>
#include <memory>

#include "dist/group/diagnosis/call_observer.h"
#include "dist/group/diagnosis/flight_dump.h"

namespace dist {

// Thread-safe.
class WorkWatch final : public CallObserver {
 public:
  explicit WorkWatch(std::shared_ptr<FlightLog> log) : CallObserver(false), log_(std::move(log)) {}

  // This operation has failed: a Work is easily lost then. From now on one thing is said at most: the error
  // of a dropped Work, if nobody has heard of any.
  void note_failure(std::uint64_t record);
  void keep_silent() { silent_ = heard_ = true; }

  void waiting(const CallNote& call, bool yes) override;
  void failed(std::uint64_t) override { heard_ = true; }
  void never_waited(const CallNote& call) override;

 private:
  const std::shared_ptr<FlightLog> log_;
  std::atomic<bool> silent_{false};
  std::atomic<bool> heard_{false};  // the program was told of a failure
};

// D6.
check::Finding dropped_work(const CallNote& call);

}  // namespace dist
