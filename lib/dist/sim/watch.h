// Watch: a real thread that observes a simulation from outside, for what the ranks cannot report themselves.
#pragma once

#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

#include "dist/core/deadline.h"
#include "dist/sim/scheduler.h"

namespace dist::sim {

// Checks the thread that made it ten times per second. Ends the process when no rank has given way for
// `patience`; remembers ranks that stopped the whole simulation by a real sleep, or by waiting for a thread.
// A debugger that stops the process stops the watch, too.
class Watch {
 public:
  Watch(const Scheduler& scheduler, Timeout patience);  // zero: forever
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // One line each: "rank 3 really slept ...". To be called once, when the ranks have ended.
  std::vector<std::string> notes();

 private:
  void loop();
  void look();

  const Scheduler& scheduler_;
  const long patience_;  // checks
  const pid_t watched_;
  std::uint64_t switches_ = 0;
  long looks_alike_ = 0, asleep_ = 0;
  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  bool stopping_ = false, threads_made_ = false;
  int threads_before_ = 0;
  std::set<int> sleepers_, waiters_;  // ranks
  std::thread thread_;                // must be last
};

}  // namespace dist::sim
