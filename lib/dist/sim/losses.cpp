// Scheduler: ranks that are lost during the run. Each loss is a worker that starts at its time; the fibers of
// the lost rank are set aside until all other ranks have ended, and then leave their functions.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "dist/sim/scheduler.h"
#include "dist/trace/readable.h"

namespace dist::sim {

std::string LostRank::how() const { return fmt::format("was lost at {}", trace::readable_time(at)); }

void Scheduler::suppose(const WhatIf& what_if) {
  what_if.check(network_.ranks());
  if (!what_if.stragglers.empty() || !what_if.slow_links.empty()) network_.suppose(what_if);
  losses_ = what_if.losses;
}

void Scheduler::start_losses() {
  Task& caller = tasks_.back();
  running_ = &caller;
  for (const auto& [rank, at_s] : losses_) {
    caller.rank = rank;
    caller.clock = from_seconds(at_s);
    start([this, rank = rank] { lose(rank); });
  }
  caller.clock = 0;
}

void Scheduler::lose(int rank) {
  Task& gone = tasks_[static_cast<std::size_t>(rank)];
  if (gone.ended) return;
  const Time now = running_->clock;
  gone.lost = true;
  for (Task* worker : workers_of_[static_cast<std::size_t>(rank)]) worker->lost = worker != running_;
  --alive_;
  finish_ = std::max(finish_, now);
  lost_.push_back({rank, now});
  network_.fail_rank(rank, now);
  rouse(now);
  if (listener_) listener_->lost(rank, now);
}

void Scheduler::rouse(Time now) {
  for_each_task([&](Task& task) {
    if (task.lost) return;
    if (task.waiting_for != no_request) return make_ready(task, now, Wake::timed_out);
    if (task.list && task.reason) make_ready(task, now, Wake::normal);
  });
  for (Lingering& lingering : lingering_) notify_all(lingering.list);
}

void Scheduler::unwind_here() {
  if (!running_->lost || running_->worker || running_->unwound) return;
  running_->unwound = true;
  throw Vanished();
}

void Scheduler::check_alive() {
  if (running_->lost) throw Vanished();
}

// A main function leaves with Vanished if it waits for other ranks, and workers' operations end with it. A
// main function that waits for its workers continues once they have ended, or else in the second pass.
void Scheduler::unwind_lost() {
  unwinding_ = true;
  for (const bool whatever_it_waits_for : {false, true}) {
    for (Task* task : std::exchange(parked_, {})) ready_.push(task, task->clock);
    for_each_task([&](Task& task) {
      if (!task.lost || task.ended || !task.is_blocked()) return;
      const bool waits_for_others = task.waiting_for != no_request || task.reason != nullptr;
      if (task.worker ? task.waiting_for != no_request : waits_for_others || whatever_it_waits_for)
        make_ready(task, task.clock, task.worker ? Wake::timed_out : Wake::released);
    });
    run_all();
  }
}

}  // namespace dist::sim
