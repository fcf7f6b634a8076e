// Scheduler: what a program uses besides messages: time (whose durations may be invalid), and memory, of its
// tensors and stacks and of what ranks share.
#include <algorithm>

#include "dist/core/deadline.h"
#include "dist/core/fail.h"
#include "dist/core/tasking.h"
#include "dist/sim/end_process.h"
#include "dist/sim/globals.h"
#include "dist/sim/scheduler.h"
#include "dist/sim/tracer.h"

namespace dist::sim {
namespace {

Time to_time(Tasking::TimePoint point) {
  const auto ns = point.time_since_epoch().count();
  return ns > end_of_time / 1000 ? never : std::max<Time>(0, ns) * 1000;
}

}  // namespace

Time from_deadline(const Deadline& deadline) {
  return deadline.is_never() ? never : to_time(deadline.when());
}

Tasking::TimePoint Scheduler::now() const {
  return TimePoint(std::chrono::nanoseconds(running_->clock / 1000));
}

void Scheduler::clock_ends() const {
  fail(Errc::invalid_argument,
       "rank {}: its virtual clock ends after {} s, and this would pass that: does it compute, sleep or send "
       "for that long?",
       running_->rank, to_seconds(end_of_time));
}

void Scheduler::work(Time duration) {
  const double slowness = network_.slowness(running_->rank);
  compute(slowness > 1 ? from_ps(static_cast<double>(duration) * slowness) : duration);
}

void Scheduler::charge(double seconds) {
  constexpr double most = 1e6;
  if (!(seconds >= 0 && seconds <= most))  // nor NaN
    fail(Errc::invalid_argument, "compute({}): seconds must be between 0 and {}", seconds, most);
  const Time begin = running_->clock;
  work(from_seconds(seconds));
  if (tracer_) tracer_->computed(running_->rank, begin, running_->clock);
}

void Scheduler::sleep_until(TimePoint when) { idle_until(to_time(when), nullptr); }

void Scheduler::reduced(const void* to, const void* from, std::size_t bytes) {
  const Time begin = running_->clock;
  if (reduce_ps_per_byte_ > 0) work(from_ps(static_cast<double>(bytes) * reduce_ps_per_byte_));
  if (tracer_) tracer_->reduced(running_->rank, to, from, bytes, begin, running_->clock);
}

void Scheduler::copied(const void* to, const void* from, std::size_t bytes) {
  if (tracer_) tracer_->copied(running_->rank, to, from, bytes);
}

void Scheduler::memory(std::ptrdiff_t change) {
  if (listener_) listener_->memory(running_->rank, change);
}

void* Scheduler::allocate(std::size_t bytes) {
  memory(static_cast<std::ptrdiff_t>(bytes));
  void* fresh = nullptr;
  try {
    fresh = values_ ? guard_.allocate(bytes) : space_.allocate(bytes);
  } catch (...) {
    memory(-static_cast<std::ptrdiff_t>(bytes));
    throw;
  }
  if (tracer_) tracer_->allocated(running_->rank, fresh, bytes);
  return fresh;
}

void Scheduler::deallocate(void* memory_, std::size_t bytes) noexcept {
  memory(-static_cast<std::ptrdiff_t>(bytes));
  values_ ? guard_.deallocate(memory_, bytes) : space_.deallocate(memory_, bytes);
}

void Scheduler::look_at_globals() {
  if (running_ == &tasks_.back())
    globals_->refresh();
  else
    globals_->look(running_->rank);
}

bool Scheduler::fault(const void* address) noexcept {
  if (guard_.touched(address)) return true;
  const bool overflowed = running_->worker ? static_cast<Worker*>(running_)->stack.overflowed(address) >= 0
                                           : stacks_.overflowed(address) >= 0;
  if (overflowed) stack_is_used_up();
  return false;
}

void Scheduler::stack_is_used_up() const {
  end_process(
      "rank {} has used up its stack of {} KiB: endless recursion, or large local arrays; a simulated "
      "rank gets more with RunOptions::stack_bytes",
      running_->rank, stack_bytes_ / 1024);
}

}  // namespace dist::sim
