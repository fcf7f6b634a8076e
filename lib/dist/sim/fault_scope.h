// FaultScope: while it lives, a listener sees the memory faults of this thread first.
#pragma once

namespace dist::sim {

class FaultListener {
 public:
  virtual ~FaultListener() = default;
  // Called in a signal handler, on a stack of its own. True: fixed, try again. False: not this listener's.
  virtual bool fault(const void* address) noexcept = 0;
};

class FaultScope {
 public:
  explicit FaultScope(FaultListener& listener);
  ~FaultScope();
  FaultScope(const FaultScope&) = delete;
  FaultScope& operator=(const FaultScope&) = delete;

  bool offer(const void* address) const noexcept;  // to this listener and the outer ones

 private:
  FaultListener& listener_;
  FaultScope* const outer_;
};

}  // namespace dist::sim
