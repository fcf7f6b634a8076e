// Scheduler: every rank is a fiber with a virtual clock of its own; the one with the earliest clock runs. One
// thread, no preemption: a rank yields when it waits, computes or sleeps. Deterministic.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "dist/core/sanitizer.h"
#include "dist/core/tasking.h"
#include "dist/sim/access_guard.h"
#include "dist/sim/address_space.h"
#include "dist/sim/choices.h"
#include "dist/sim/fault_scope.h"
#include "dist/sim/fiber_marks.h"
#include "dist/sim/network.h"
#include "dist/sim/ready_queue.h"
#include "dist/sim/stacks.h"
#include "dist/sim/task.h"

namespace dist::sim {

struct SchedulerOptions {
  std::size_t stack_bytes = (built_with_asan ? 256 : 64) * 1024;  // ASan's frames are larger
  Stacks::Of stacks = Stacks::Of::programs;
  bool guard_tensors = false;  // whether the memory of tensors can be closed
  bool values = true;          // false: tensors are address space (address_space.h)
};

// A rank that waits, for code that explains a hang.
struct BlockedTask {
  int rank;
  bool worker;
  RequestId request;         // or no_request
  const WaitReason* reason;  // may be null
  bool bounded;              // it polls: the wait ends by itself
};

// Notified of what happens: the owner of the simulation.
class SchedulerListener {
 public:
  virtual ~SchedulerListener() = default;
  // No rank can continue, except by a timeout.
  virtual void stalled(const std::vector<BlockedTask>& blocked) = 0;
  // A rank's tensors and scratch grow or shrink. May throw if they grow.
  virtual void memory(int rank, std::ptrdiff_t change) = 0;
  virtual void peak_restarts(int rank) { (void)rank; }
  virtual void lost(int rank, Time at) { (void)rank, (void)at; }  // by a what-if
};

// Ends what a lost rank does; not a std::exception, so that a program does not take it for an error.
struct Vanished {};

struct LostRank {
  int rank;
  Time at;
  std::string how() const;  // "was lost at 100 us"
};

Time from_deadline(const Deadline& deadline);  // on the virtual clock; `never` beyond its end

class Globals;
class Tracer;

class Scheduler final : public NetworkListener, public Tasking, private FaultListener {
 public:
  Scheduler(Topology topology, int ranks, const SchedulerOptions& options = {});
  ~Scheduler() override;

  // Runs main(rank) on every rank until all have ended. Throws the first rank's error, and Error{timeout}
  // "deadlock", which says which rank waits for which, when no rank can continue.
  void run(const std::function<void(int rank)>& main);

  // The scheduler of the simulation on this thread; null outside a simulation.
  static Scheduler* current();

  // For the running rank:
  int rank() const { return running_->rank; }
  Time clock() const { return running_->clock; }
  // Advances the clock; earlier ranks run first. Throws Error{invalid_argument} beyond end_of_time.
  void compute(Time duration);
  void work(Time duration);  // as long as this rank needs for what others do in `duration`
  // Waits until the request is known and the clock has reached it; returns false if the deadline passed
  // first.
  bool await(RequestId id, Time deadline = never, const WaitReason* reason = nullptr);
  bool reached(RequestId id);  // known, and not in this rank's future; each poll costs poll_cost
  // Waits until something that reached() found unfinished may be finished, at most for `patience`.
  void linger(Time patience);
  void restart_peak() {
    if (listener_) listener_->peak_restarts(running_->rank);
  }
  void nudge();  // ends linger() of this rank's other tasks

  TimePoint now() const override;
  void sleep_until(TimePoint when) override;
  bool wait(WaitList& list, const Deadline& deadline, const WaitReason* reason) override;
  void notify_all(WaitList& list) override;
  void charge(double seconds) override;
  void start(std::function<void()> fn) override;
  void reduced(const void* to, const void* from, std::size_t bytes) override;
  void copied(const void* to, const void* from, std::size_t bytes) override;
  void at_store() override;
  void* allocate(std::size_t bytes) override;
  void deallocate(void* memory, std::size_t bytes) noexcept override;
  Release release() const override { return values_ ? guard_.release() : AddressSpace::release; }
  std::shared_ptr<void>* local() override { return &running_->local; }

  // A rank will not do its part any more: every waiting rank checks whether it waits in vain (SimTransport,
  // Blackboard, SwitchTree).
  void rouse(Time now);
  // Waits of this rank's workers on the network fail, now and later (SimTransport checks for it).
  void release_workers(int rank);

  void set_listener(SchedulerListener* listener) { listener_ = listener; }
  // Sets a schedule other than the ordinary one; to be called before run().
  void set_choices(Choices* choices);
  Choices* choices() const { return choices_; }  // null: the ordinary one
  void set_tracer(Tracer* tracer);
  Tracer* tracer() const { return tracer_; }                  // null: nothing is traced
  void set_globals(Globals* globals) { globals_ = globals; }  // compares them whenever a rank gives way
  // To be called before run(); the ranks must exist.
  void suppose(const WhatIf& what_if);
  const std::vector<LostRank>& lost() const { return lost_; }  // so far, in the order of their times
  bool is_lost(int rank) const { return tasks_[static_cast<std::size_t>(rank)].lost; }
  void check_alive();  // throws in a lost rank: it must not go on
  Network& network() { return network_; }
  const Network& network() const { return network_; }
  Time finish_time() const { return finish_; }  // the latest clock of all ranks that have ended
  std::uint64_t switches() const { return switches_.load(std::memory_order_relaxed); }
  int running_rank() const { return on_cpu_.load(std::memory_order_relaxed); }  // from any thread
  const Stacks& stacks() const { return stacks_; }
  AccessGuard& guard() { return guard_; }

  static constexpr Time poll_cost = 50'000;  // ps: so a loop over is_completed() makes progress

 private:
  struct Worker : Task {
    explicit Worker(std::size_t stack_bytes) : stack(1, stack_bytes) { worker = true; }
    Stacks stack;
  };
  void known(std::int32_t rank, RequestId id, Time at) override;
  static void enter(boost::context::detail::transfer_t from);
  void run_task(Task& task);
  void run_all();   // until no rank can continue
  void give_way();  // the current task is queued, or sleeps: run the next
  void block(Task& task, Time deadline, const WaitReason* reason);
  void idle_until(Time when, const WaitReason* reason);
  [[noreturn]] void clock_ends() const;                   // throws the error
  void trace_wait(Time begin, const WaitReason* reason);  // the running rank's, until now
  void switch_to(Task* next);
  Task* next_task();
  void make_ready(Task& task, Time at, Wake wake);
  static void unlink(Task& task);
  // Wakes the tasks whose deadline comes before anything else happens.
  bool expire(Time before);
  template <class Visit>
  void for_each_task(Visit visit) {
    for (Task& task : tasks_) visit(task);
    for (const auto& worker : workers_) visit(*worker);
  }
  std::vector<BlockedTask> blocked();
  std::string who_waits();
  bool release_blocked();
  // Exploration:
  bool match_any_source(RequestId only = no_request);
  bool puts_off(RequestId id);
  bool fault(const void* address) noexcept override;
  [[noreturn]] void stack_is_used_up() const;
  void memory(std::ptrdiff_t change);  // the running rank's
  void look_at_globals();              // it gives way
  void start_losses();
  void lose(int rank);
  void unwind_lost();
  void unwind_here();  // in a lost rank that goes on: leaves its main function

  Network network_;
  Stacks stacks_;
  AccessGuard guard_;
  AddressSpace space_;
  const bool values_;
  FiberMarks marks_;
  std::size_t stack_bytes_;
  std::vector<Task> tasks_;  // [rank]; the last one is the caller of run()
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Worker*> idle_workers_;
  std::vector<std::vector<Task*>> workers_of_;  // [rank]; empty until there is one
  struct Lingering {
    WaitList list;
    Time next_event = never;  // then something that was polled will be complete
  };
  std::vector<Lingering> lingering_;  // [rank]
  ReadyQueue<Task> ready_;
  Task* running_ = nullptr;
  Time soonest_deadline_ = never;  // the earliest deadline of all waiting tasks, or earlier
  int alive_ = 0;
  Time finish_ = 0;
  double reduce_ps_per_byte_;
  std::atomic<std::uint64_t> switches_{0};
  std::atomic<int> on_cpu_{-1};
  std::function<void(int)> main_;
  std::exception_ptr failure_;
  SchedulerListener* listener_ = nullptr;
  Tracer* tracer_ = nullptr;
  Globals* globals_ = nullptr;
  Choices* choices_ = nullptr;
  std::unordered_map<RequestId, int> put_off_;  // false "not yet" answers so far
  int idle_polls_ = 0;
  std::vector<Loss> losses_;  // to come
  std::vector<LostRank> lost_;
  std::vector<Task*> parked_;  // fibers of lost ranks that could continue
  bool unwinding_ = false;     // all others have ended; the lost ones go on in order to leave
};

}  // namespace dist::sim
