// StallLook: a rank that has been blocked in a call for some time asks the others why, long before its
// timeout.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "dist/check/finding.h"
#include "dist/core/deadline.h"
#include "dist/group/diagnosis/flight_dump.h"
#include "dist/group/diagnosis/watchdog.h"

namespace dist {

class StallLook {
 public:
  // `found` is called, once and on a thread of its own, with the finding for a call that has been going on
  // for `after` and certainly never ends. `watchdog` must outlive this object. Error{resource}: no thread
  // could be started.
  StallLook(std::shared_ptr<const FlightLog> log, Watchdog& watchdog, Timeout after,
            std::function<void(const check::Finding&)> found);
  ~StallLook();  // waits for a question that is under way, at most a second
  StallLook(const StallLook&) = delete;
  StallLook& operator=(const StallLook&) = delete;

 private:
  void loop();
  std::optional<check::Finding> look();

  const std::shared_ptr<const FlightLog> log_;
  Watchdog& watchdog_;
  const Timeout after_;
  const std::function<void(const check::Finding&)> found_;
  Deadline next_ = Deadline::after(Timeout::zero());  // the ranks are not asked again before it
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace dist
