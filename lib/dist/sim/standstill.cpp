// Scheduler: what happens when no rank can continue: which rank waits for what, and how the ranks are
// released.
#include <algorithm>

#include <fmt/format.h>

#include "dist/sim/scheduler.h"

namespace dist::sim {

std::vector<BlockedTask> Scheduler::blocked() {
  std::vector<BlockedTask> found;
  for_each_task([&](const Task& task) {
    if (!task.is_blocked() || task.ended || task.lost) return;
    found.push_back({task.rank, task.worker, task.waiting_for, task.reason,
                     task.list != nullptr && task.reason == nullptr && task.deadline != never});
  });
  return found;
}

std::string Scheduler::who_waits() {
  std::string who;
  for (const BlockedTask& task : blocked()) {
    if (task.request == no_request) continue;
    const NetRequest& request = network_[task.request];
    who += fmt::format("{}rank {} waits to {} rank {}", who.empty() ? "" : "; ", task.rank,
                       request.is_send ? "send to" : "receive from", request.peer);
  }
  return who;
}

// Makes each blocked rank's wait throw, so that its stack is unwound and what it owns is freed. Workers that
// wait for work end when their owner does.
bool Scheduler::release_blocked() {
  bool any = false;
  for_each_task([&](Task& task) {
    if (!task.is_blocked() || task.ended || task.lost || (task.worker && task.list != nullptr)) return;
    any = true;
    make_ready(task, std::max(task.clock, finish_), Wake::released);
  });
  return any;
}

}  // namespace dist::sim
