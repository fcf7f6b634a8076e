#include "dist/sim/scheduler.h"

#include <algorithm>
#include <utility>

#include <boost/context/detail/fcontext.hpp>
#include <cxxabi.h>

#include "dist/core/fail.h"
#include "dist/core/rank_label.h"

namespace dist::sim {

// The exception state that the C++ runtime keeps for a thread, and that each fiber must have for itself.
struct ExceptionState {
  void* caught = nullptr;
  unsigned int uncaught = 0;
};

namespace {

namespace context = boost::context::detail;

thread_local Scheduler* current_scheduler = nullptr;

ExceptionState& exception_state() {
  return *reinterpret_cast<ExceptionState*>(__cxxabiv1::__cxa_get_globals());
}

}  // namespace

// In one cache line: it is touched at every switch.
struct alignas(64) Task {
  context::fcontext_t context = nullptr;  // where it goes on; also the top of what its stack holds
  Task* next = nullptr;
  Time clock = 0;
  ExceptionState exceptions;
  RequestId waiting_for = no_request;
  std::int32_t rank = -1;
  bool ended = false;
  bool released = false;  // queued to be told of the deadlock

  static void enter(context::transfer_t from);
};
static_assert(sizeof(Task) == 64);

Scheduler* Scheduler::current() { return current_scheduler; }

Scheduler::Scheduler(Topology topology, int ranks, const SchedulerOptions& options)
    : network_(std::move(topology), ranks, *this),
      stacks_(ranks, options.stack_bytes),
      marks_(ranks),
      tasks_(static_cast<std::size_t>(ranks) + 1) {}

Scheduler::~Scheduler() = default;

int Scheduler::number_of(const Task& task) const { return static_cast<int>(&task - tasks_.data()); }
int Scheduler::rank() const { return running_->rank; }
Time Scheduler::now() const { return running_->clock; }

void Task::enter(context::transfer_t from) {
  auto& before = *static_cast<Task*>(from.data);
  before.context = from.fctx;
  Scheduler& scheduler = *current_scheduler;
  scheduler.marks_.arrived(scheduler.number_of(*scheduler.running_), scheduler.number_of(before));
  scheduler.run_task(*scheduler.running_);
  scheduler.switch_to(scheduler.next_task());  // for good
}

void Scheduler::run_task(Task& task) {
  try {
    main_(task.rank);
  } catch (...) {
    if (!failure_) failure_ = std::current_exception();
    network_.fail_rank(task.rank, task.clock);
  }
  task.ended = true;
  --alive_;
  finish_ = std::max(finish_, task.clock);
}

void Scheduler::run(const std::function<void(int rank)>& main) {
  Scheduler* const outer = std::exchange(current_scheduler, this);
  main_ = main;
  alive_ = network_.ranks();
  for (int rank = 0; rank < network_.ranks(); ++rank) {
    Task& task = tasks_[static_cast<std::size_t>(rank)];
    task.rank = rank;
    task.context = context::make_fcontext(stacks_.top(rank), stacks_.usable(rank), &Task::enter);
    marks_.has_stack(rank, stacks_.bottom(rank), stacks_.usable(rank));
    ready_.push(&task, 0);
  }
  running_ = &tasks_.back();
  running_->rank = current_rank_label();
  run_all();
  if (alive_ > 0) {
    deadlock_ = "deadlock: " + who_waits();
    release_blocked();
    if (!failure_) failure_ = std::make_exception_ptr(Error(Errc::timeout, deadlock_));
  }
  current_scheduler = outer;
  if (failure_) std::rethrow_exception(failure_);
}

void Scheduler::run_all() {
  if (!ready_.empty()) give_way();
}

Task* Scheduler::next_task() { return ready_.empty() ? &tasks_.back() : ready_.pop(); }

void Scheduler::give_way() {
  Task* const next = next_task();
  if (next != running_) switch_to(next);
}

void Scheduler::switch_to(Task* next) {
  Task* const before = running_;
  // With many ranks a task's stack has left the cache since it last ran: fetch the next one's while this one
  // runs.
  if (Task* soon = ready_.peek()) {
    const auto* stack = static_cast<const char*>(soon->context);
    for (int line = 0; line < 8; ++line) __builtin_prefetch(stack + line * 64, 1);
    if (soon->next) __builtin_prefetch(soon->next, 1);
  }
  before->exceptions = exception_state();
  exception_state() = next->exceptions;
  running_ = next;
  ++switches_;
  set_current_rank_label(next->rank);
  marks_.leaving(number_of(*before), number_of(*next), before->ended);
  const context::transfer_t back = context::jump_fcontext(next->context, before);
  auto& last = *static_cast<Task*>(back.data);
  last.context = back.fctx;
  marks_.arrived(number_of(*before), number_of(last));
}

void Scheduler::compute(Time duration) {
  running_->clock += duration;
  if (running_->clock <= ready_.earliest()) return;
  ready_.push(running_, running_->clock);
  give_way();
}

void Scheduler::await(RequestId id) {
  if (!network_[id].known) {
    network_.await(id);
    running_->waiting_for = id;
    give_way();  // known() puts this rank back at the request's time
    running_->waiting_for = no_request;
    if (!network_[id].known) fail(Errc::timeout, "{}", deadlock_);
    return;
  }
  const Time at = network_[id].at;
  if (at > running_->clock) compute(at - running_->clock);
}

bool Scheduler::reached(RequestId id) {
  if (network_[id].known && network_[id].at <= running_->clock) return true;
  ready_.push(running_, running_->clock);
  give_way();
  return network_[id].known && network_[id].at <= running_->clock;
}

void Scheduler::known(std::int32_t rank, RequestId, Time at) {
  Task& task = tasks_[static_cast<std::size_t>(rank)];
  if (task.released) return;
  task.clock = std::max(task.clock, at);
  ready_.push(&task, task.clock);
}

std::string Scheduler::who_waits() const {
  std::string who;
  for (const Task& task : tasks_) {
    if (task.ended || task.waiting_for == no_request) continue;
    const NetRequest& request = network_[task.waiting_for];
    who += fmt::format("{}rank {} waits to {} rank {}", who.empty() ? "" : "; ", task.rank,
                       request.is_send ? "send to" : "receive from", request.peer);
  }
  return who;
}

// Each blocked rank's wait throws, so that its stack is unwound and what it owns is freed.
void Scheduler::release_blocked() {
  for (Task& task : tasks_) {
    if (task.ended || task.waiting_for == no_request) continue;
    task.released = true;
    ready_.push(&task, std::max(task.clock, finish_));
  }
  run_all();
}

}  // namespace dist::sim
