// FaultScope: while it lives, memory faults of this thread are shown to a listener first.
#pragma once

namespace dist::sim {

class FaultListener {
 public:
  virtual ~FaultListener() = default;
  // In a signal handler, on a stack of its own. True: mended, try again. False: it is somebody else's.
  virtual bool fault(const void* address) noexcept = 0;
};

class FaultScope {
 public:
  explicit FaultScope(FaultListener& listener);
  ~FaultScope();
  FaultScope(const FaultScope&) = delete;
  FaultScope& operator=(const FaultScope&) = delete;

  bool offer(const void* address) const noexcept;  // to this listener, and those outside of it

 private:
  FaultListener& listener_;
  FaultScope* const outer_;
};

}  // namespace dist::sim
