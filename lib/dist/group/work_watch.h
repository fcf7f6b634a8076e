// WorkWatch: the CallObserver of a real rank. Says when a Work is dropped that nobody has waited for (D6),
// and lets the flight recorder know which asynchronous operations the rank stands still for.
#pragma once

#include <atomic>
#include <memory>

#include "dist/group/call_observer.h"
#include "dist/group/flight_dump.h"

namespace dist {

// Thread-safe.
class WorkWatch final : public CallObserver {
 public:
  explicit WorkWatch(std::shared_ptr<FlightLog> log) : CallObserver(false), log_(std::move(log)) {}

  // Something has failed on this rank: a Work is easily lost then, and nothing is said any more.
  void keep_silent() { silent_ = true; }

  void waiting(const CallNote& call, bool yes) override;
  void never_waited(const CallNote& call) override;

 private:
  const std::shared_ptr<FlightLog> log_;
  std::atomic<bool> silent_{false};
};

// D6.
check::Finding dropped_work(const CallNote& call);

}  // namespace dist
