// WorkWatch: the CallObserver that reports a Work that is dropped without a wait (D6).
#pragma once

#include <atomic>
#include <memory>

#include "dist/group/diagnosis/call_observer.h"
#include "dist/group/diagnosis/flight_dump.h"

namespace dist {

// Thread-safe.
class WorkWatch final : public CallObserver {
 public:
  explicit WorkWatch(std::shared_ptr<FlightLog> log) : log_(std::move(log)) {}

  void keep_silent() { silent_ = heard_ = true; }

  // An operation has failed: Works are easily dropped then. From now on at most one thing is reported: the
  // error of a dropped Work, if the program has not seen any error.
  void failed(std::uint64_t record) override;
  void returned(std::uint64_t, bool with_error) override {
    if (with_error) heard_ = true;
  }
  void dropped(const CallNote& call) override;

 private:
  const std::shared_ptr<FlightLog> log_;
  std::atomic<bool> silent_{false};
  std::atomic<bool> heard_{false};  // the program has seen a failure
};

// The finding for a dropped Work.
check::Finding dropped_work(const CallNote& call);

}  // namespace dist
