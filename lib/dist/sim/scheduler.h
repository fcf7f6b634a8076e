// Scheduler: every rank is a fiber with a virtual clock of its own; the one with the earliest clock runs. One
// thread, no preemption: a rank gives way when it waits, computes or sleeps. Deterministic.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dist/core/sanitizer.h"
#include "dist/sim/fiber_marks.h"
#include "dist/sim/network.h"
#include "dist/sim/ready_queue.h"
#include "dist/sim/stacks.h"

namespace dist::sim {

struct Task;

struct SchedulerOptions {
  std::size_t stack_bytes = (built_with_asan ? 256 : 64) * 1024;  // its frames are larger
};

class Scheduler final : public NetworkListener {
 public:
  Scheduler(Topology topology, int ranks, const SchedulerOptions& options = {});
  ~Scheduler() override;

  // Runs main(rank) on every rank until all have ended. Throws the first rank's error, with the rank in
  // front, and Error{timeout} "deadlock" naming who waits for whom when no rank can go on.
  void run(const std::function<void(int rank)>& main);

  // Of the simulation that runs on this thread; null outside.
  static Scheduler* current();

  // For the running rank:
  int rank() const;
  Time now() const;
  void compute(Time duration);  // the clock moves on; earlier ranks run first
  void await(RequestId id);     // until the request is known and the clock has reached it
  bool reached(RequestId id);   // known, and not in this rank's future; lets others run if not

  Network& network() { return network_; }
  Time finish_time() const { return finish_; }  // the latest clock of all ranks that have ended
  std::uint64_t switches() const { return switches_; }

 private:
  void known(std::int32_t rank, RequestId id, Time at) override;
  friend struct Task;
  void run_task(Task& task);
  void run_all();   // until no rank can go on
  void give_way();  // the current task has been queued, or sleeps: run the next
  void switch_to(Task* next);
  Task* next_task();
  int number_of(const Task& task) const;  // of its rank; of the caller of run(), the last
  std::string who_waits() const;
  void release_blocked();

  Network network_;
  Stacks stacks_;
  FiberMarks marks_;
  std::vector<Task> tasks_;  // [rank]; the last one is the caller of run()
  ReadyQueue<Task> ready_;
  Task* running_ = nullptr;
  int alive_ = 0;
  Time finish_ = 0;
  std::uint64_t switches_ = 0;
  std::function<void(int)> main_;
  std::exception_ptr failure_;
  std::string deadlock_;  // what released ranks are told
};

}  // namespace dist::sim
