// Scheduler: fibers, the loop that runs the task with the earliest clock, switches between fibers, and the
// waits: for requests, for conditions, for polls. Costs, losses, exploration and hangs have files of their
// own (scheduler_costs.cpp, losses.cpp, exploration.cpp, standstill.cpp).
#include "dist/sim/scheduler.h"

#include <algorithm>
#include <utility>

#include <cxxabi.h>

#include "dist/core/deadline.h"
#include "dist/core/fail.h"
#include "dist/core/rank_label.h"
#include "dist/core/tasking.h"
#include "dist/core/tensor.h"
#include "dist/sim/tracer.h"

namespace dist::sim {

namespace {

namespace context = boost::context::detail;

thread_local Scheduler* current_scheduler = nullptr;

ExceptionState& exception_state() {
  return *reinterpret_cast<ExceptionState*>(__cxxabiv1::__cxa_get_globals());
}

}  // namespace

Scheduler* Scheduler::current() { return current_scheduler; }

Scheduler::Scheduler(Topology topology, int ranks, const SchedulerOptions& options)
    : network_(std::move(topology), ranks, *this),
      stacks_(ranks, options.stack_bytes, options.stacks),
      guard_(options.guard_tensors),
      values_(options.values),
      marks_(ranks),
      stack_bytes_(options.stack_bytes),
      tasks_(static_cast<std::size_t>(ranks) + 1),
      lingering_(static_cast<std::size_t>(ranks)),
      reduce_ps_per_byte_(network_.topology().reduce_seconds_per_byte * 1e12) {}

Scheduler::~Scheduler() = default;

void Scheduler::enter(context::transfer_t from) {
  auto& before = *static_cast<Task*>(from.data);
  before.context = from.fctx;
  Scheduler& scheduler = *current_scheduler;
  scheduler.marks_.arrived(scheduler.running_->mark, before.mark);
  scheduler.run_task(*scheduler.running_);
  scheduler.switch_to(scheduler.next_task());  // forever
}

void Scheduler::run_task(Task& task) {
  try {
    if (task.worker)
      task.main();
    else if (!task.lost)  // not lost before it began
      main_(task.rank);
  } catch (...) {
    if (!failure_ && !task.lost) failure_ = std::current_exception();
    if (!task.worker && !task.lost) network_.fail_rank(task.rank, task.clock);
  }
  if (!task.worker && !stacks_.intact(task.rank)) stack_is_used_up();  // without guards it shows only now
  task.ended = true;
  if (task.worker) {
    task.main = nullptr;
  } else if (!task.lost) {
    --alive_;
    finish_ = std::max(finish_, task.clock);
  }
}

void Scheduler::run(const std::function<void(int rank)>& main) {
  Scheduler* const outer = std::exchange(current_scheduler, this);
  Tasking* const outer_tasking = exchange_current(this);
  const Device outer_device = get_default_device();
  set_default_device(cpu);  // the virtual ranks' default
  main_ = main;
  alive_ = network_.ranks();
  start_losses();
  for (int rank = 0; rank < network_.ranks(); ++rank) {
    Task& task = tasks_[static_cast<std::size_t>(rank)];
    task.rank = task.mark = rank;
    task.context = context::make_fcontext(stacks_.top(rank), stacks_.usable(rank), &Scheduler::enter);
    marks_.has_stack(rank, stacks_.bottom(rank), stacks_.usable(rank));
    ready_.push(&task, 0);
  }
  Task& caller = tasks_.back();
  caller.mark = network_.ranks();
  caller.rank = current_rank().label;
  caller.rank_context = current_rank().context;
  running_ = &caller;
  const FaultScope faults(*this);
  run_all();
  while (alive_ > 0) {
    if (!failure_) failure_ = std::make_exception_ptr(Error(Errc::timeout, "deadlock: " + who_waits()));
    if (!release_blocked()) break;
    run_all();
  }
  if (!lost_.empty()) unwind_lost();
  current_scheduler = outer;
  exchange_current(outer_tasking);
  set_default_device(outer_device);
  if (failure_) std::rethrow_exception(failure_);
}

void Scheduler::run_all() {
  Task* const next = next_task();
  if (next != running_) switch_to(next);
}

Task* Scheduler::next_task() {
  for (;;) {
    if (ready_.earliest() <= soonest_deadline_ && !ready_.empty()) {
      Task* const next = ready_.pop();
      if (!next->lost || unwinding_) return next;
      parked_.push_back(next);
      continue;
    }
    if (choices_ && match_any_source()) continue;
    if (ready_.empty() && alive_ > 0 && listener_) listener_->stalled(blocked());
    if (!expire(ready_.earliest()) && ready_.empty()) return &tasks_.back();
  }
}

[[gnu::always_inline]] inline void Scheduler::give_way() {
  Task* const next = next_task();
  if (next != running_) switch_to(next);
}

[[gnu::always_inline]] inline void Scheduler::switch_to(Task* next) {
  Task* const before = running_;
  if (globals_) look_at_globals();
  // With many ranks, a task's stack has left the cache since the task last ran: prefetch the next one's while
  // this one runs.
  if (Task* soon = ready_.peek()) {
    const auto* stack = static_cast<const char*>(soon->context);
    for (int line = 0; line < 8; ++line) __builtin_prefetch(stack + line * 64, 1);
    if (soon->next) __builtin_prefetch(soon->next, 1);
  }
  if (before->worker && before->ended) idle_workers_.push_back(static_cast<Worker*>(before));
  before->exceptions = exception_state();
  exception_state() = next->exceptions;
  running_ = next;
  switches_.store(switches_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  on_cpu_.store(next->rank, std::memory_order_relaxed);
  CurrentRank& rank = current_rank();
  before->rank_context = rank.context;
  rank = {next->rank, next->rank_context};
  marks_.leaving(before->mark, next->mark, before->ended);
  const context::transfer_t back = context::jump_fcontext(next->context, before);
  auto& last = *static_cast<Task*>(back.data);
  last.context = back.fctx;
  marks_.arrived(before->mark, last.mark);
}

void Scheduler::compute(Time duration) {
  if (duration < 0 || duration > end_of_time - running_->clock) clock_ends();
  running_->clock += duration;
  if (running_->clock <= ready_.earliest() && running_->clock <= soonest_deadline_) return;
  ready_.push(running_, running_->clock);
  give_way();
  unwind_here();
}

void Scheduler::set_tracer(Tracer* tracer) {
  tracer_ = tracer;
  network_.set_tracer(tracer);
}

void Scheduler::idle_until(Time when, const WaitReason* reason) {
  const Time begin = running_->clock;
  if (when > begin) compute(when - begin);
  if (tracer_ && !running_->worker) trace_wait(begin, reason);
}

void Scheduler::trace_wait(Time begin, const WaitReason* reason) {
  tracer_->waited(running_->rank, begin, running_->clock, reason ? reason->where() : CallSite{});
}

[[gnu::always_inline]] inline void Scheduler::block(Task& task, Time deadline, const WaitReason* reason) {
  task.deadline = deadline;
  task.reason = reason;
  task.wake = Wake::normal;
  soonest_deadline_ = std::min(soonest_deadline_, deadline);
  const Time begin = task.clock;
  give_way();
  if (tracer_ && !task.worker) trace_wait(begin, reason);
  task.reason = nullptr;
}

bool Scheduler::await(RequestId id, Time deadline, const WaitReason* reason) {
  Task& task = *running_;
  const Time begin = task.clock;
  if (network_[id].known) {
    idle_until(std::min(network_[id].at, deadline), reason);
    if (network_[id].at <= task.clock) return true;
    network_.missed(id, begin);
    return false;
  }
  network_.await(id);
  task.waiting_for = id;
  block(task, deadline, reason);  // known() requeues this rank at the request's time, or the deadline
  unwind_here();
  if (task.wake == Wake::normal) return true;
  network_.await(id, false);
  if (network_[id].known) network_.missed(id, begin);
  if (task.wake == Wake::released) fail(Errc::timeout, "deadlock: rank {} waits forever", task.rank);
  return false;
}

bool Scheduler::reached(RequestId id) {
  const auto is_there = [&] { return network_[id].known && network_[id].at <= running_->clock; };
  if (choices_ && puts_off(id)) {
    compute(poll_cost);
    return false;
  }
  if (is_there()) return true;
  compute(poll_cost);
  if (is_there()) return true;
  Time& next_event = lingering_[static_cast<std::size_t>(running_->rank)].next_event;
  if (network_[id].known)
    next_event = std::min(next_event, network_[id].at);
  else
    network_.watch(id);
  return false;
}

void Scheduler::linger(Time patience) {
  auto& [list, next_event] = lingering_[static_cast<std::size_t>(running_->rank)];
  const Time until = std::min(running_->clock + patience, std::exchange(next_event, never));
  wait(list, Deadline::at(TimePoint(std::chrono::nanoseconds((until + 999) / 1000))), nullptr);
}

void Scheduler::nudge() { notify_all(lingering_[static_cast<std::size_t>(running_->rank)].list); }

bool Scheduler::wait(WaitList& list, const Deadline& deadline, const WaitReason* reason) {
  Task& task = *running_;
  task.list = &list;
  task.list_next = nullptr;
  task.list_previous = static_cast<Task*>(list.last);
  (list.last ? static_cast<Task*>(list.last)->list_next : *reinterpret_cast<Task**>(&list.first)) = &task;
  list.last = &task;
  block(task, from_deadline(deadline), reason);
  if (reason) unwind_here();
  if (task.wake == Wake::released) fail(Errc::timeout, "deadlock: rank {} waits forever", task.rank);
  return task.wake == Wake::normal;
}

void Scheduler::unlink(Task& task) {
  if (!task.list) return;
  WaitList& list = *task.list;
  (task.list_previous ? task.list_previous->list_next : *reinterpret_cast<Task**>(&list.first)) =
      task.list_next;
  (task.list_next ? task.list_next->list_previous : *reinterpret_cast<Task**>(&list.last)) =
      task.list_previous;
  task.list = nullptr;
}

void Scheduler::make_ready(Task& task, Time at, Wake wake) {
  unlink(task);
  task.waiting_for = no_request;
  task.wake = wake;
  task.deadline = never;
  task.clock = std::max(task.clock, at);
  ready_.push(&task, task.clock);
}

void Scheduler::notify_all(WaitList& list) {
  while (list.first) make_ready(*static_cast<Task*>(list.first), running_->clock, Wake::normal);
}

void Scheduler::known(std::int32_t rank, RequestId id, Time at) {
  const auto wake = [&](Task& task) {
    const bool in_time = at <= std::max(task.deadline, task.clock);
    make_ready(task, in_time ? at : task.deadline, in_time ? Wake::normal : Wake::timed_out);
  };
  if (!network_[id].awaited) {  // watched
    auto& [list, next_event] = lingering_[static_cast<std::size_t>(rank)];
    if (!list.first) next_event = std::min(next_event, at);  // it is about to linger
    while (list.first) wake(*static_cast<Task*>(list.first));
    return;
  }
  Task& main = tasks_[static_cast<std::size_t>(rank)];
  if (main.waiting_for == id) return wake(main);
  if (workers_of_.empty()) return;
  for (Task* worker : workers_of_[static_cast<std::size_t>(rank)]) {
    if (worker->waiting_for == id) return wake(*worker);
  }
}

void Scheduler::start(std::function<void()> fn) {
  if (idle_workers_.empty()) {
    workers_.push_back(std::make_unique<Worker>(stack_bytes_));
    workers_.back()->mark = marks_.add();
    workers_of_.resize(lingering_.size());
    idle_workers_.push_back(workers_.back().get());
  }
  Worker& task = *idle_workers_.back();
  idle_workers_.pop_back();
  if (task.rank >= 0) std::erase(workers_of_[static_cast<std::size_t>(task.rank)], &task);
  task.ended = false;
  task.lost = running_->lost;
  task.rank = running_->rank;
  workers_of_[static_cast<std::size_t>(task.rank)].push_back(&task);
  task.clock = running_->clock;
  task.rank_context = current_rank().context;
  task.local = nullptr;
  task.main = std::move(fn);
  task.context = context::make_fcontext(task.stack.top(0), task.stack.usable(0), &Scheduler::enter);
  marks_.has_stack(task.mark, task.stack.bottom(0), task.stack.usable(0));
  ready_.push(&task, task.clock);
}

bool Scheduler::expire(Time before) {
  Time soonest = never;
  for_each_task([&](const Task& task) {
    if (task.is_blocked()) soonest = std::min(soonest, task.deadline);
  });
  soonest_deadline_ = soonest;
  if (soonest == never || soonest >= before) return false;
  for_each_task([&](Task& task) {
    if (task.is_blocked() && task.deadline == soonest) make_ready(task, soonest, Wake::timed_out);
  });
  return true;
}

void Scheduler::release_workers(int rank) {
  if (workers_of_.empty()) return;
  for (Task* task : workers_of_[static_cast<std::size_t>(rank)]) {
    if (!task->ended && task->waiting_for != no_request) make_ready(*task, running_->clock, Wake::timed_out);
  }
}

}  // namespace dist::sim
