// WorkWatch: the CallObserver of a real rank. It reports a Work that is dropped without a wait (D6),
// and records in the flight recorder for which asynchronous operations the rank blocks.
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

  // Called when this operation has failed: Works are easily dropped then. From now on at most one thing is
  // reported: the error of a dropped Work, if the program has not seen any error.
  void note_failure(std::uint64_t record);
  void keep_silent() { silent_ = heard_ = true; }

  void waiting(const CallNote& call, bool yes) override;
  void failed(std::uint64_t) override { heard_ = true; }
  void never_waited(const CallNote& call) override;

 private:
  const std::shared_ptr<FlightLog> log_;
  std::atomic<bool> silent_{false};
  std::atomic<bool> heard_{false};  // the program has seen a failure
};

// The finding for a dropped Work.
check::Finding dropped_work(const CallNote& call);

}  // namespace dist
