// Stacks of fibers: small, pooled, in one reservation; pages cost memory only when they are touched.
#pragma once

#include <cstddef>
#include <vector>

namespace dist::sim {

// Below each stack is a guard (so that an overflow faults instead of damaging a neighbour), as long as the
// system's limit on maps allows; otherwise a canary, which intact() checks.
class Stacks {
 public:
  enum class Of { programs, library };  // library: of known depth, no guards, on huge pages
  Stacks(int count, std::size_t bytes_each, Of of = Of::programs);  // Error{resource} names the limit
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  void* top(int index) const;  // stacks grow down from here
  const void* bottom(int index) const { return base(index) + guard_; }
  std::size_t usable(int index) const;  // bytes from bottom to top
  bool guarded() const { return guarded_; }
  bool intact(int index) const;
  // The stack whose guard contains `address`, or -1; for the fault handler.
  int overflowed(const void* address) const;

 private:
  bool guard();
  std::byte* base(int index) const { return memory_ + static_cast<std::size_t>(index) * each_; }
  std::byte* memory_ = nullptr;
  std::size_t each_ = 0, guard_ = 0;
  int count_ = 0;
  bool guarded_ = false;
};

}  // namespace dist::sim
