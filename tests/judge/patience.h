// Patience: how long the processes of a run may take, in their own time. What else the machine has to do is
// not held against them: a process that waits for a processor neither works nor sleeps, and on a clock both
// would look alike.
#pragma once

#include <chrono>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <sys/types.h>

#include "judge/census.h"

namespace judge {

struct Limits;
using Milliseconds = std::chrono::milliseconds;

class Patience {
 public:
  explicit Patience(const Limits& limits);

  // Whether it is used up by these processes and all that they have started, or by what this program works
  // for them. They are polled about a hundred times before it is, at times that they cannot know, and a call
  // between takes no time. Throws Trouble when after limits.wall they have neither worked nor slept enough to
  // say.
  // `owes`: whether they wait for something that this program has not done yet; believed for 10 s in all.
  bool is_used_up(const std::vector<pid_t>& processes, const std::function<bool()>& owes = {});
  Milliseconds asleep() const { return asleep_; }
  // What it has seen so far of work and of sleep, even while this program owed something; and what this
  // program has worked until now.
  Milliseconds spent() const;
  // Whether sleep has used it up, which only a clock can measure.
  bool has_slept_too_long() const { return !why_.empty() && 2 * asleep_ >= spent(); }
  // "had not finished after 10.0 s of work"; empty as long as it is not used up.
  const std::string& why() const { return why_; }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point next_look();
  Milliseconds own_work() const;  // since the beginning, but for looking at processes

  const Milliseconds most_asleep_, most_work_, most_own_work_, most_in_all_, wall_, period_;
  const Clock::time_point started_ = Clock::now();
  const std::chrono::microseconds own_work_before_;  // this program's
  std::chrono::microseconds looking_{0};             // what it has worked to look at processes
  Clock::time_point looked_ = started_, next_;
  std::minstd_rand random_;
  Census before_{.is_awake = true};  // at the last look
  Milliseconds asleep_{0}, owed_{0};
  std::string why_;
};

}  // namespace judge
