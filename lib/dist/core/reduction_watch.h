// ReductionWatch: is notified of the reductions that a thread computes on the CPU.
#pragma once

#include <chrono>

#include "dist/core/view.h"

namespace dist {

class ReductionWatch {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~ReductionWatch() = default;
  // A reduce() (kernels.h) into `acc`, which began at `begin`, has just ended.
  virtual void reduced(const TensorView& acc, Clock::time_point begin) = 0;

  static ReductionWatch* current();                          // this thread's; null: none
  static ReductionWatch* exchange_current(ReductionWatch*);  // returns the previous one
};

}  // namespace dist
