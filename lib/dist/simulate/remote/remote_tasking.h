// RemoteTasking: the virtual clock and the waits of a rank whose simulation runs in another process.
#pragma once

#include <thread>
#include <vector>

#include "dist/core/tasking.h"
#include "dist/sim/access_guard.h"
#include "dist/sim/fault_scope.h"

namespace dist::sim {

// The rank's tasks are threads of this process. One of them runs at a time: the one that the simulation
// answered last.
class RemoteTasking final : public Tasking, public FaultListener {
 public:
  explicit RemoteTasking(bool guards_tensors) : guard_(guards_tensors) {}
  ~RemoteTasking() override;  // waits for the tasks

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
  Release release() const override { return guard_.release(); }

  AccessGuard& guard() { return guard_; }

 private:
  bool fault(const void* address) noexcept override { return guard_.touched(address); }

  AccessGuard guard_;
  std::vector<std::thread> tasks_;
};

// Makes the calling thread a task of `tasking` while it lives.
class TaskScope {
 public:
  explicit TaskScope(RemoteTasking& tasking)
      : before_(Tasking::exchange_current(&tasking)), faults_(tasking) {}
  ~TaskScope() { Tasking::exchange_current(before_); }
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;

 private:
  Tasking* const before_;
  FaultScope faults_;
};

}  // namespace dist::sim
