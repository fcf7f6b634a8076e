#include "judge/patience.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include <fmt/format.h>

#include "judge/child.h"
#include "judge/trouble.h"

namespace judge {
namespace {

constexpr int looks = 100;
constexpr Milliseconds shortest_period{10};

std::chrono::microseconds work_by(clockid_t clock) {
  timespec used{};
  ::clock_gettime(clock, &used);
  return std::chrono::microseconds(used.tv_sec * 1'000'000 + used.tv_nsec / 1000);
}

// Requests for hidden data that came while this program looked at the processes, on a busy machine.
constexpr Milliseconds most_owed{10'000};

double seconds(Milliseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

Patience::Patience(const Limits& limits)
    : most_asleep_(limits.asleep),
      most_work_(limits.work),
      most_own_work_(limits.own_work),
      most_in_all_(limits.in_all),
      wall_(limits.wall),
      period_(std::max(shortest_period, std::min({most_asleep_, most_work_, most_in_all_}) / looks)),
      own_work_before_(work_by(CLOCK_PROCESS_CPUTIME_ID)),
      random_(std::random_device()()) {
  next_ = next_look();
}

// A process that knew when it is looked at could be awake just then.
Patience::Clock::time_point Patience::next_look() {
  using Microseconds = std::chrono::microseconds;
  const auto period = std::chrono::duration_cast<Microseconds>(period_).count();
  return looked_ + Microseconds(std::uniform_int_distribution(period / 2, period + period / 2)(random_));
}

Milliseconds Patience::own_work() const {
  return std::chrono::duration_cast<Milliseconds>(work_by(CLOCK_PROCESS_CPUTIME_ID) - own_work_before_ -
                                                  looking_);
}

Milliseconds Patience::spent() const { return asleep_ + owed_ + before_.worked + own_work(); }

bool Patience::is_used_up(const std::vector<pid_t>& processes, const std::function<bool()>& owes) {
  const auto now = Clock::now();
  if (!why_.empty() || now < next_) return !why_.empty();
  // How long this takes is up to the machine: how many processes it has, and how long it keeps these waiting.
  const auto before = work_by(CLOCK_THREAD_CPUTIME_ID);
  Census census = census_of(processes);
  looking_ += work_by(CLOCK_THREAD_CPUTIME_ID) - before;
  const auto passed = std::chrono::duration_cast<std::chrono::nanoseconds>(now - looked_);
  const auto at_rest = passed - ran_between(before_, census);
  if (!census.is_awake && owed_ < most_owed && owes && owes()) {
    census.is_awake = true;
    // On a busy machine they wait for this program, and this program for a processor.
    const auto rested = std::clamp(at_rest, std::chrono::nanoseconds(0), std::chrono::nanoseconds(period_));
    owed_ += std::chrono::duration_cast<Milliseconds>(rested);
  }
  // If a look comes late, the time before it counts as sleep only if the processes slept at both ends and did
  // next to nothing in between; otherwise as much of it as there is between two looks.
  const bool was_asleep = !before_.is_awake && before_.worked == census.worked && at_rest > passed / 2;
  if (!census.is_awake) asleep_ += was_asleep ? std::chrono::duration_cast<Milliseconds>(passed) : period_;
  looked_ = now;
  next_ = next_look();
  before_ = std::move(census);
  if (asleep_ >= most_asleep_)
    why_ = fmt::format("had not finished after {:.1f} s of sleep", seconds(asleep_));
  else if (before_.worked >= most_work_)
    why_ = fmt::format("had not finished after {:.1f} s of work (a loop that does not end?)",
                       seconds(most_work_));
  else if (own_work() >= most_own_work_)
    why_ = fmt::format("had not finished when the grader had worked {:.1f} s for it", seconds(own_work()));
  else if (spent() >= most_in_all_)
    why_ = fmt::format("had not finished after {:.1f} s of work and sleep", seconds(spent()));
  else if (now >= started_ + wall_)
    throw Trouble(
        fmt::format("after {:.0f} s the graded processes have had {:.1f} s of a processor, and no rest: this "
                    "machine is too busy",
                    seconds(wall_), seconds(before_.worked)));
  return !why_.empty();
}

}  // namespace judge
